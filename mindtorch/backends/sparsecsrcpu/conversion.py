"""To compressed sparse layouts: from dense arrays, from coordinates, and from one such layout to another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.layout import layout, sparse_coo, sparse_csr, strided
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecsrcpu.array import CompressedArray, blocks_of

AnySparse = SparseArray | CompressedArray


def to_layout(
    input: Any, target: layout, blocksize: Sequence[int] | None, dense_dim: int | None, op: str = "dense_to_sparse"
) -> CompressedArray:
    """The array in a compressed layout; `op` is what messages call the conversion of a dense one."""
    source = getattr(input, "layout", strided)
    if (blocksize is None) is target.is_blocked:
        how = "without" if blocksize is None else "with"
        raise RuntimeError(
            f"{op}: conversion from {source.shown} to {target.shown} {how} blocksize argument given is not supported"
        )
    block = _checked_blocksize(blocksize, input.shape, dense_dim or 0, target)
    if source is strided:
        return _from_dense(input, input != 0, target, block, _checked_dense_dim(input, target, dense_dim))
    if dense_dim is not None:
        name = "coo_to" if source is sparse_coo else "sparse_compressed_to"
        raise RuntimeError(
            f"{name}_{_word(target)}: conversion from {source.shown} to {target.shown} with dense_dim argument given "
            "is not supported"
        )
    if isinstance(input, SparseArray) and input.sparse_dim != 2:
        raise RuntimeError(
            f"coo_to_{_word(target)}: conversion from Sparse to {target.shown} for input tensors with sparse_dim()!=2 "
            "is not supported"
        )
    return _from_sparse(input, target, block)


def _word(target: layout) -> str:
    return repr(target).removeprefix("torch.")


def _checked_dense_dim(input: np.ndarray, target: layout, dense_dim: int | None) -> int:
    if dense_dim is not None and not 0 <= dense_dim <= input.ndim - 2:
        raise RuntimeError(
            f"dense_to_{_word(target)}: dense_dim argument must be in [0,{input.ndim - 2}] range, but {dense_dim} is "
            "given"
        )
    return dense_dim or 0


def _checked_blocksize(
    blocksize: Sequence[int] | None, shape: Sequence[int], dense_dim: int, target: layout
) -> tuple[int, int]:
    if blocksize is None:
        return 1, 1
    height, width = blocksize
    if height <= 0 or width <= 0:
        raise RuntimeError(f"dense_to_{_word(target)}: blocksize needs to be positive, but got {[height, width]}")
    rows, columns = shape[len(shape) - dense_dim - 2 : len(shape) - dense_dim]
    if rows % height or columns % width:
        raise RuntimeError(
            f"dense_to_{_word(target)}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize "
            f"({height},{width})"
        )
    return height, width


def _from_dense(
    dense: np.ndarray, taken: np.ndarray, target: layout, block: tuple[int, int], dense_dim: int
) -> CompressedArray:
    """The elements that are taken, with whatever else is in their blocks or belongs to their values."""
    ndim = dense.ndim - dense_dim
    if ndim < 2:
        raise IndexError("select(): index 1 out of range for tensor of size [2, 1] at dimension 1")
    if ndim == 2:
        return _matrix_from_dense(dense, taken, target, block)
    batch = dense.shape[: ndim - 2]
    matrices = [_matrix_from_dense(dense[k], taken[k], target, block) for k in np.ndindex(*batch)]
    if len({matrix.nnz for matrix in matrices}) > 1:
        raise RuntimeError("Expect the same number of specified elements per batch.")
    return _stacked(matrices, batch, dense.shape)


def _stacked(matrices: Sequence[CompressedArray], batch: tuple[int, ...], shape: tuple[int, ...]) -> CompressedArray:
    stacked = (np.stack([getattr(matrix, part) for matrix in matrices]) for part in ("compressed", "plain", "values"))
    compressed, plain, values = (part.reshape(*batch, *part.shape[1:]) for part in stacked)
    return CompressedArray(compressed, plain, values, shape, matrices[0].layout)


def _matrix_from_dense(dense: np.ndarray, taken: np.ndarray, target: layout, block: tuple[int, int]) -> CompressedArray:
    blocks = blocks_of(taken, block)
    rows, columns = np.nonzero(blocks.any(axis=(1, 3, *range(4, blocks.ndim))))
    values = blocks_of(dense, block)[rows, :, columns]
    return _compress(rows, columns, values if target.is_blocked else values[:, 0, 0], dense.shape, block, target)


def _compress(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: Any, block: tuple[int, int], target: layout
) -> CompressedArray:
    """Values at places without an order, put in order and packed."""
    packed, plain = (rows, columns) if target.by_rows else (columns, rows)
    order = np.lexsort((plain, packed))
    side = 0 if target.by_rows else 1
    starts = np.zeros(shape[side] // block[side] + 1, np.int64)
    np.cumsum(np.bincount(packed, minlength=len(starts) - 1), out=starts[1:])
    return CompressedArray(starts, plain[order].astype(np.int64, copy=False), values[order], tuple(shape), target)


def _from_sparse(input: AnySparse, target: layout, block: tuple[int, int]) -> CompressedArray:
    if isinstance(input, CompressedArray):
        if input.layout is target and input.blocksize == block:
            return input
        if input.layout.is_blocked and not target.is_blocked:
            raise RuntimeError(
                f"sparse_compressed_to_{_word(target)}: expected SparseCsr or SparseCsc layout but got "
                f"{input.layout.shown}"
            )
    if input.ndim - input.dense_dim > 2 or target.is_blocked:
        return _from_dense(input.to_dense(), _specified(input), target, block, input.dense_dim)
    if isinstance(input, SparseArray):
        input = input.coalesce()
        rows, columns = input.indices
    else:
        rows, columns = input.places()
    return _compress(rows, columns, input.values, input.shape, block, target)


def _specified(input: AnySparse) -> np.ndarray:
    """True where the sparse array has a value, though it be 0."""
    return input.with_values(np.ones(input.values.shape, bool)).to_dense()


def to_coordinates(input: CompressedArray) -> SparseArray:
    """The same values with their coordinates, block by block."""
    (height, width), batch = input.blocksize, input.shape[: input.batch_ndim]
    parts = []
    for place, matrix in zip(np.ndindex(*batch), input.matrices()):
        rows, columns = (starts[:, None, None] for starts in matrix.places())
        inside = np.broadcast_arrays(rows * height + np.arange(height)[:, None], columns * width + np.arange(width))
        before = (np.full(inside[0].shape, index) for index in place)
        parts.append(np.stack([*before, *inside]).reshape(len(place) + 2, -1))
    indices = np.concatenate(parts, axis=1).astype(np.int64, copy=False)
    values = input.values.reshape(indices.shape[1], *input.values.shape[input.values.ndim - input.dense_dim :])
    return SparseArray(indices, values.copy(), input.shape, input.layout is sparse_csr)
