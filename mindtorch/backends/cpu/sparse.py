"""CPU kernels of the sparse family: from dense arrays to sparse ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch.backends.sparsecpu.array import SparseArray

Array = np.ndarray


def sparse_coo(
    sparse_dim: int,
    dense_dim: int,
    size: Sequence[int],
    indices: Array,
    values: Array,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = False,
    is_coalesced: bool | None = None,
) -> SparseArray:
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
            f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )
    if dtype is not None:
        values = values.astype(dtype.numpy, copy=False)
    return SparseArray(indices, values, tuple(size), bool(is_coalesced))


def to_sparse_dim(input: Array, sparse_dim: int) -> SparseArray:
    if sparse_dim == 0 and input.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    if not 0 <= sparse_dim <= input.ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{input.ndim}] range, but {sparse_dim} is given"
        )
    dense_axes = tuple(range(sparse_dim, input.ndim))
    places = np.nonzero((input != 0).any(axis=dense_axes) if dense_axes else np.atleast_1d(input))
    if not sparse_dim:
        values = input.reshape(1, *input.shape)[places].copy()
        return SparseArray(np.zeros((0, len(values)), np.int64), values, input.shape, True)
    return SparseArray(np.stack(places), input[places], input.shape, True)


def to_sparse(input: Array, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None) -> SparseArray:
    return to_sparse_dim(input, input.ndim - (dense_dim or 0))


def sparse_mask(input: Array, mask: SparseArray) -> SparseArray:
    """The elements of a dense array at the places of a sparse one."""
    if input.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    if mask.sparse_dim:
        return mask.with_values(input[tuple(mask.indices)])
    return mask.with_values(np.broadcast_to(input, (mask.nnz, *input.shape)).copy())


def sparse_dim(input: Array) -> int:
    return 0


def dense_dim(input: Array) -> int:
    return input.ndim


def is_coalesced(input: Array) -> bool:
    raise RuntimeError("is_coalesced expected sparse coordinate tensor layout but got Strided")
