"""Reductions that are written in other ops."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch.dispatch import ops
from mindtorch.dtype import dtype as Dtype
from mindtorch.tensor import Tensor

Dims = int | Sequence[int] | None


# -------------------- extremes and order --------------------


def max_other(input: Tensor, other: Tensor) -> Tensor:
    return ops.maximum(input, other)


def min_other(input: Tensor, other: Tensor) -> Tensor:
    return ops.minimum(input, other)


def argsort(input: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return ops.sort(input, dim, descending)[1]


# -------------------- spread --------------------


def var(input: Tensor, unbiased: bool = True) -> Tensor:
    return ops.var(input, dim=None, correction=int(unbiased))


def var_dim(input: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return ops.var(input, dim=dim, correction=int(unbiased), keepdim=keepdim)


def std(input: Tensor, unbiased: bool = True) -> Tensor:
    return ops.std(input, dim=None, correction=int(unbiased))


def std_dim(input: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return ops.std(input, dim=dim, correction=int(unbiased), keepdim=keepdim)


# -------------------- softmax --------------------


def softmax(input: Tensor, dim: int, dtype: Dtype | None = None) -> Tensor:
    return ops._softmax(input if dtype is None else input.to(dtype), dim, False)


def log_softmax(input: Tensor, dim: int, dtype: Dtype | None = None) -> Tensor:
    return ops._log_softmax(input if dtype is None else input.to(dtype), dim, False)


# -------------------- norms and counts --------------------


def norm(input: Tensor, p: float = 2) -> Tensor:
    _check_norm_dtype(input)
    return ops.linalg_vector_norm(input, p)


def norm_dim(input: Tensor, p: float | None, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    _check_norm_dtype(input)
    return ops.linalg_vector_norm(input, 2 if p is None else p, dim, keepdim)


def _check_norm_dtype(input: Tensor) -> None:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {input.dtype.storage_name} instead."
        )


def count_nonzero(input: Tensor, dim: int | None = None) -> Tensor:
    nonzero = ops.ne(input, 0)
    return ops.sum(nonzero) if dim is None else ops.sum(nonzero, [dim])


def count_nonzero_dims(input: Tensor, dim: Sequence[int]) -> Tensor:
    return ops.sum(ops.ne(input, 0), dim)
