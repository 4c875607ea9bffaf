"""Kernels of the sparse family whose input is sparse."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.layout import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecsrcpu.array import CompressedArray
from mindtorch.backends.sparsecsrcpu.conversion import to_layout
from mindtorch.dispatch.registry import kernels_in

_dense_kernels = kernels_in("mindtorch.backends.cpu.sparse.sparse")


def to_dense(input: SparseArray, dtype: Any = None, masked_grad: bool | None = None) -> np.ndarray:
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return input.to_dense()


def to_sparse(
    input: SparseArray, layout: Any = None, blocksize: Sequence[int] | None = None, dense_dim: int | None = None
) -> CompressedArray:
    return to_layout(input, layout, blocksize, dense_dim)


def coalesce(input: SparseArray) -> SparseArray:
    return input.coalesce()


def indices(input: SparseArray) -> np.ndarray:
    return input.indices.view()


def values(input: SparseArray) -> np.ndarray:
    return input.values.view()


def nnz(input: SparseArray) -> int:
    return input.nnz


def is_coalesced(input: SparseArray) -> bool:
    return input.coalesced


def sparse_dim(input: SparseArray) -> int:
    return input.sparse_dim


def dense_dim(input: SparseArray) -> int:
    return input.dense_dim


def sparse_mask(input: SparseArray, mask: SparseArray | CompressedArray) -> SparseArray | CompressedArray:
    if mask is input:
        return input.with_values(input.values)
    return _dense_kernels.sparse_mask(input.to_dense(), mask)


def to_csr(input: SparseArray, dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_csr, None, dense_dim)


def to_csc(input: SparseArray, dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_csc, None, dense_dim)


def to_bsr(input: SparseArray, blocksize: Sequence[int], dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_bsr, blocksize, dense_dim)


def to_bsc(input: SparseArray, blocksize: Sequence[int], dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_bsc, blocksize, dense_dim)
