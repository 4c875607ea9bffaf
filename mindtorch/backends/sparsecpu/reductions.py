"""Sums, norms and the like of sparse tensors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import geometry, promotion
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecpu.shapes import unsqueeze
from mindtorch.dispatch.registry import kernel_table, register_kernels


def sum(input: SparseArray, dtype: Any = None) -> np.ndarray:
    target = promotion.sum_of(input) if dtype is None else dtype.numpy
    return np.asarray(input.values.sum(dtype=target), target)


def sum_dim(
    input: SparseArray, dim: Sequence[int] | None, keepdim: bool = False, dtype: Any = None, out: Any = None
) -> Any:
    """Dense if no sparse dimension is left."""
    target = promotion.sum_of(input) if dtype is None else dtype.numpy
    own = input.astype(target).coalesce()
    dims = range(input.ndim) if dim is None else sorted(geometry.wrap_dims(dim, input.ndim))
    if not dims:
        return own
    result = _summed(own, dims)
    if not keepdim:
        return result
    for each in dims:
        result = np.expand_dims(result, each) if isinstance(result, np.ndarray) else unsqueeze(result, each)
    return result


def _summed(input: SparseArray, dims: Sequence[int]) -> Any:
    inner = tuple(dim - input.sparse_dim + 1 for dim in dims if dim >= input.sparse_dim)
    values = input.values.sum(inner, dtype=input.dtype)
    left = [dim for dim in range(input.sparse_dim) if dim not in dims]
    if not left:
        return np.asarray(values.sum(0, dtype=input.dtype))
    shape = tuple(length for dim, length in enumerate(input.shape) if dim not in dims)
    return SparseArray(input.indices[left], values, shape, len(left) == input.sparse_dim).coalesce()


def vector_norm(
    input: SparseArray, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None, out: Any = None
) -> np.ndarray:
    """The norm over all dimensions; what is not there is 0, and counts as nothing."""
    if input.dtype.kind in "biu":
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {scalar_name(input)} instead."
        )
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    if dim and set(geometry.wrap_dims(dim, input.ndim)) != set(range(input.ndim)):
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all "
            "dimensions of the input"
        )
    return kernel_table("linalg_vector_norm")[np.ndarray](input.coalesce().values.reshape(-1), ord, None, False, dtype)


def any(input: SparseArray, out: Any = None) -> np.ndarray:
    return np.asarray(input.coalesce().values.any())


register_kernels("SparseCPU", {"any": any, "linalg_vector_norm": vector_norm, "sum": sum, "sum.dim_IntList": sum_dim})
