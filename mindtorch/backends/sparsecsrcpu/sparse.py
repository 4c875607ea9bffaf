"""Kernels of the sparse family whose input is compressed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecsrcpu.array import CompressedArray
from mindtorch.backends.sparsecsrcpu.conversion import to_coordinates, to_layout
from mindtorch.backends.sparsecsrcpu.reduced_products import mm_reduce as mm_reduce
from mindtorch.backends.sparsecsrcpu.reduced_products import mm_reduce_backward as mm_reduce_backward
from mindtorch.backends.sparsecsrcpu.sampled_products import sampled_addmm as sampled_addmm


def to_dense(input: CompressedArray, dtype: Any = None, masked_grad: bool | None = None) -> np.ndarray:
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_csr_to_dense")
    return input.to_dense()


def to_sparse(
    input: CompressedArray, layout: Any = None, blocksize: Sequence[int] | None = None, dense_dim: int | None = None
) -> SparseArray | CompressedArray:
    if layout in (None, sparse_coo):
        return to_coordinates(input)
    return to_layout(input, layout, blocksize, dense_dim)


def to_sparse_dim(input: CompressedArray, sparse_dim: int) -> SparseArray:
    return to_coordinates(input)


def to_csr(input: CompressedArray, dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_csr, None, dense_dim)


def to_csc(input: CompressedArray, dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_csc, None, dense_dim)


def to_bsr(input: CompressedArray, blocksize: Sequence[int], dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_bsr, blocksize, dense_dim)


def to_bsc(input: CompressedArray, blocksize: Sequence[int], dense_dim: int | None = None) -> CompressedArray:
    return to_layout(input, sparse_bsc, blocksize, dense_dim)


def values(input: CompressedArray) -> np.ndarray:
    return input.values.view()


def nnz(input: CompressedArray) -> int:
    return input.nnz


def sparse_dim(input: CompressedArray) -> int:
    return 2


def dense_dim(input: CompressedArray) -> int:
    return input.dense_dim


def is_coalesced(input: CompressedArray) -> bool:
    raise RuntimeError(f"is_coalesced expected sparse coordinate tensor layout but got {input.layout.shown}")


def sparse_mask(input: CompressedArray, mask: Any) -> CompressedArray:
    if not isinstance(mask, CompressedArray):
        raise RuntimeError(
            f"sparse_mask_sparse_compressed expects mask to have sparse compressed layout, got {mask.layout.shown}"
        )
    return masked(input.to_dense(), mask)


def masked(dense: np.ndarray, mask: CompressedArray) -> CompressedArray:
    """The elements of a dense array at the places of a compressed one."""
    if dense.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(dense.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    return mask.with_values(mask.values_at(dense))
