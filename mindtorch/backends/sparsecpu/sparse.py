"""Kernels of the sparse family whose input is sparse."""

from typing import Any

import numpy as np

from mindtorch.backends.cpu import sparse as dense_kernels
from mindtorch.backends.sparsecpu.array import SparseArray


def to_dense(input: SparseArray, dtype: Any = None, masked_grad: bool | None = None) -> np.ndarray:
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return input.to_dense()


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


def sparse_mask(input: SparseArray, mask: SparseArray) -> SparseArray:
    return dense_kernels.sparse_mask(input.to_dense(), mask)
