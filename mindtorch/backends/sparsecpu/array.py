"""`SparseArray`: the array of a sparse (COO) tensor: where its elements are, and what they are."""

from math import prod
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from mindtorch._core.device import CPU, device
from mindtorch._core.geometry import check_numel
from mindtorch._core.layout import sparse_coo
from mindtorch.dispatch.keys import register_backend

# What sparse arrays answer when they are asked how their memory is laid out.
NOT_DENSE = SimpleNamespace(c_contiguous=False, f_contiguous=False)


class SparseArray:
    """`values[k]` stands at `indices[:, k]`; equal columns of indices add up, and everything else is zero.

    The first `len(indices)` dimensions are sparse, the others those of each value. Coalesced means sorted, in row-major
    order, without equal columns.
    """

    __slots__ = ("indices", "values", "shape", "coalesced")

    device: device = CPU
    layout = sparse_coo
    byte_offset = 0
    base = None  # it shares no memory with a dense array
    flags = NOT_DENSE

    def __init__(self, indices: np.ndarray, values: np.ndarray, shape: tuple[int, ...], coalesced: bool) -> None:
        check_numel(shape)
        self.indices = indices
        self.values = values
        self.shape = shape
        self.coalesced = coalesced or values.shape[0] < 2

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
        """How many values there are."""
        return self.values.shape[0]

    @property
    def sparse_dim(self) -> int:
        return self.indices.shape[0]

    @property
    def dense_dim(self) -> int:
        return self.values.ndim - 1

    @property
    def address(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    @property
    def root(self) -> NoReturn:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")

    def tolist(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def with_values(self, values: np.ndarray) -> "SparseArray":
        """The same places with other values."""
        return SparseArray(self.indices, values, self.shape, self.coalesced)

    def become(self, other: "SparseArray") -> "SparseArray":
        """Take over another array's contents; this is how a sparse array is written in place."""
        self.indices, self.values, self.shape = other.indices, other.values, other.shape
        self.coalesced = other.coalesced
        return self

    def copy(self) -> "SparseArray":
        return SparseArray(self.indices.copy(), self.values.copy(), self.shape, self.coalesced)

    def keys(self) -> np.ndarray:
        """A number for each element that orders them by their places."""
        if not self.sparse_dim:
            return np.zeros(self.nnz, np.int64)
        return np.ravel_multi_index(tuple(self.indices), self.shape[: self.sparse_dim])

    def coalesce(self) -> "SparseArray":
        """The same matrix with its columns of indices sorted and equal ones added up."""
        if self.coalesced:
            return self
        if not self.sparse_dim:
            columns, values = self.indices[:, :1], self.values.sum(0, keepdims=True, dtype=self.dtype)
        else:
            keys, place = np.unique(self.keys(), return_inverse=True)
            columns = np.array(np.unravel_index(keys, self.shape[: self.sparse_dim]), np.int64)
            values = np.zeros((len(keys), *self.values.shape[1:]), self.dtype)
            np.add.at(values, place.reshape(-1), self.values)
        return SparseArray(columns, values, self.shape, True)

    def to_dense(self) -> np.ndarray:
        dense = np.zeros(self.shape, self.dtype)
        self.add_to(dense)
        return dense

    def add_to(self, dense: np.ndarray) -> None:
        """Add the elements to a dense array, in place."""
        own = self.coalesce()
        dense[tuple(own.indices)] += own.values if own.sparse_dim else own.values.sum(0, dtype=own.dtype)

    def astype(self, dtype: np.dtype) -> "SparseArray":
        return self.with_values(self.values.astype(dtype))

    def picked_from(self, dense: np.ndarray) -> np.ndarray:
        """The elements of a dense array at the places of the values."""
        wide = np.broadcast_to(dense, self.shape)
        return wide[tuple(self.indices)] if self.sparse_dim else np.broadcast_to(wide, self.values.shape)

    def dot(self, matrix: np.ndarray) -> np.ndarray:
        """The product with a dense matrix: each value times the row of it that its column names, added up by rows."""
        rows, columns = self.indices
        result = np.zeros((self.shape[0], matrix.shape[1]), self.dtype)
        np.add.at(result, rows, self.values[:, None] * matrix[columns])
        return result

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """What kernels of dense arrays multiply matrices with."""
        dense = self.to_dense()
        return dense if dtype is None else dense.astype(dtype)

    def __mul__(self, factor: np.ndarray) -> "SparseArray":
        return self.with_values(self.values * factor)

    def __repr__(self) -> str:
        return f"SparseArray(shape={self.shape}, nnz={self.nnz}, dtype={self.dtype})"


register_backend("SparseCPU", SparseArray, "cpu", sparse_coo)
