"""`CompressedArray`: the array of a tensor in a compressed sparse layout (CSR, CSC, BSR, BSC)."""

from math import prod
from typing import Any, NoReturn

import numpy as np

from mindtorch._core.device import CPU, device
from mindtorch._core.geometry import check_numel
from mindtorch._core.layout import COMPRESSED, compressed_like, layout
from mindtorch._support.warnings import warn_once
from mindtorch.backends.sparsecpu.array import NOT_DENSE
from mindtorch.dispatch.keys import register_backend


class CompressedArray:
    """Matrices whose rows (or columns) are packed: those of number k are `values[compressed[k]:compressed[k + 1]]`.

    `plain` says in which column (or row) each value is. In a blocked layout, rows and columns are those of blocks. The
    parts may have leading dimensions, one matrix each, and values dimensions of their own at the end.
    """

    __slots__ = ("compressed", "plain", "values", "shape", "layout")

    device: device = CPU
    byte_offset = 0
    base = None  # it shares no memory with a dense array
    flags = NOT_DENSE

    def __init__(
        self, compressed: np.ndarray, plain: np.ndarray, values: np.ndarray, shape: tuple[int, ...], layout: layout
    ) -> None:
        check_numel(shape)
        self.compressed = compressed
        self.plain = plain
        self.values = values
        self.shape = shape
        self.layout = layout
        warn_once(
            f"Sparse {layout.shown[-3:].upper()} tensor support is in beta state. If you miss a functionality in the "
            "sparse tensor support, please submit a feature request to https://github.com/pytorch/pytorch/issues.",
            kind="compressed sparse layouts",
        )

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def itemsize(self) -> int:
        return self.values.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return (0,) * len(self.shape)

    @property
    def nnz(self) -> int:
        """How many values (or blocks) each matrix has."""
        return self.plain.shape[-1] if self.plain.ndim else 0

    @property
    def batch_ndim(self) -> int:
        return max(self.compressed.ndim - 1, 0)

    @property
    def dense_dim(self) -> int:
        return self.values.ndim - self.batch_ndim - 1 - 2 * self.layout.is_blocked

    @property
    def blocksize(self) -> tuple[int, int]:
        start = self.batch_ndim + 1
        return self.values.shape[start : start + 2] if self.layout.is_blocked else (1, 1)

    @property
    def address(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    @property
    def root(self) -> NoReturn:
        raise NotImplementedError("Cannot access storage of SparseCsrTensorImpl")

    def tolist(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def part_names(self) -> tuple[str, str]:
        """What the two kinds of indices are called in this layout."""
        return ("crow_indices", "col_indices") if self.layout.by_rows else ("ccol_indices", "row_indices")

    def with_values(self, values: np.ndarray) -> "CompressedArray":
        """The same places with other values."""
        return CompressedArray(self.compressed, self.plain, values, self.shape, self.layout)

    def become(self, other: "CompressedArray") -> "CompressedArray":
        """Take over another array's contents; this is how such an array is written in place.

        New values at the same places are written where the old ones are, for those who share them.
        """
        if other.compressed is self.compressed and other.dtype == self.dtype:
            self.values[...] = other.values
            return self
        self.compressed, self.plain, self.values = other.compressed, other.plain, other.values
        self.shape, self.layout = other.shape, other.layout
        return self

    def copy(self) -> "CompressedArray":
        parts = self.compressed.copy(), self.plain.copy(), self.values.copy()
        return CompressedArray(*parts, self.shape, self.layout)

    def astype(self, dtype: np.dtype) -> "CompressedArray":
        return self.with_values(self.values.astype(dtype))

    def transposed(self, shape: tuple[int, ...]) -> "CompressedArray":
        """The same parts read by columns instead of rows: the transposed matrices."""
        values = self.values
        if self.layout.is_blocked:
            values = values.swapaxes(self.batch_ndim + 1, self.batch_ndim + 2)
        turned = compressed_like(not self.layout.by_rows, self.layout.is_blocked)
        return CompressedArray(self.compressed, self.plain, values, shape, turned)

    def matrices(self) -> "list[CompressedArray]":
        """One array without leading dimensions for each matrix."""
        batch, shape = self.batch_ndim, self.shape
        places = np.ndindex(*self.compressed.shape[:batch])
        return [
            CompressedArray(self.compressed[k], self.plain[k], self.values[k], shape[batch:], self.layout)
            for k in places
        ]

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of each value (or block) of one matrix."""
        packed = np.repeat(np.arange(len(self.compressed) - 1), np.diff(self.compressed))
        return (packed, self.plain) if self.layout.by_rows else (self.plain, packed)

    def to_dense(self) -> np.ndarray:
        dense = np.zeros(self.shape, self.dtype)
        batch = self.shape[: self.batch_ndim]
        for place, matrix in zip(np.ndindex(*batch), self.matrices()):
            rows, columns = matrix.places()
            blocks_of(dense[place], self.blocksize)[rows, :, columns] = matrix.values_as_blocks()
        return dense

    def values_at(self, dense: np.ndarray) -> np.ndarray:
        """The elements of a dense array at the places of the values."""
        found = []
        for place, matrix in zip(np.ndindex(*self.shape[: self.batch_ndim]), self.matrices()):
            rows, columns = matrix.places()
            found.append(blocks_of(dense[place], self.blocksize)[rows, :, columns])
        return np.stack(found).reshape(self.values.shape)

    def dot(self, matrix: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """The product with a dense matrix: each block times the rows of it that its column names, added up by rows."""
        result = np.zeros((self.shape[0], matrix.shape[1]), self.dtype) if out is None else out
        result[...] = 0
        height, width = self.blocksize
        rows, columns = self.places()
        blocks = matrix.reshape(matrix.shape[0] // width, width, matrix.shape[1])
        terms = self.values_as_blocks() @ blocks[columns]
        np.add.at(result.reshape(self.shape[0] // height, height, matrix.shape[1]), rows, terms)
        return result

    def values_as_blocks(self) -> np.ndarray:
        """The values of one matrix, in blocks of one element if they are none."""
        return self.values if self.layout.is_blocked else self.values[:, None, None]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """What kernels of dense arrays compute with."""
        dense = self.to_dense()
        return dense if dtype is None else dense.astype(dtype)

    def __repr__(self) -> str:
        return f"CompressedArray(shape={self.shape}, nnz={self.nnz}, layout={self.layout}, dtype={self.dtype})"


def blocks_of(matrix: np.ndarray, blocksize: tuple[int, int]) -> np.ndarray:
    """A view of a dense matrix with the dimensions (row of blocks, row in it, column of blocks, column in it, ...)."""
    (rows, columns), (height, width) = matrix.shape[:2], blocksize
    return matrix.reshape(rows // height, height, columns // width, width, *matrix.shape[2:])


for _layout in COMPRESSED:
    register_backend("SparseCsrCPU", CompressedArray, "cpu", _layout)
