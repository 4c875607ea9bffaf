"""CPU kernels of the sparse family: from dense arrays to sparse ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.layout import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from mindtorch._core.layout import sparse_coo as coo_layout
from mindtorch._support import errors
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecsrcpu.array import CompressedArray
from mindtorch.backends.sparsecsrcpu.conversion import to_layout
from mindtorch.backends.sparsecsrcpu.sparse import masked

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


def sparse_compressed(
    compressed_indices: Array,
    plain_indices: Array,
    values: Array,
    size: Sequence[int],
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = False,
) -> CompressedArray:
    if dtype is not None:
        values = values.astype(dtype.numpy, copy=False)
    return CompressedArray(compressed_indices, plain_indices, values, tuple(size), layout)


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


def to_sparse(
    input: Array, layout: Any = None, blocksize: Sequence[int] | None = None, dense_dim: int | None = None
) -> SparseArray | CompressedArray:
    if layout not in (None, coo_layout):
        return to_layout(input, layout, blocksize, dense_dim)
    if blocksize is not None:
        raise RuntimeError(
            "dense_to_sparse: conversion from Strided to Sparse with blocksize argument given is not supported"
        )
    return to_sparse_dim(input, input.ndim - (dense_dim or 0))


def to_csr(input: Array, dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_csr, None, dense_dim)


def to_csc(input: Array, dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_csc, None, dense_dim)


def to_bsr(input: Array, blocksize: Sequence[int], dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_bsr, blocksize, dense_dim)


def to_bsc(input: Array, blocksize: Sequence[int], dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_bsc, blocksize, dense_dim)


def sparse_mask(input: Array, mask: SparseArray | CompressedArray) -> SparseArray | CompressedArray:
    """The elements of a dense array at the places of a sparse one."""
    if isinstance(mask, np.ndarray):
        raise errors.no_kernel("sparse_mask", "CPU", ["SparseCPU", "SparseCsrCPU"])
    if isinstance(mask, CompressedArray):
        return masked(input, mask)
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
