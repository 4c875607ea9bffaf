"""Reductions that are written in other ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch._core import geometry
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import uint8
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.composite.common import out_forms
from mindtorch.dispatch import ops

Dims = int | Sequence[int] | None


# -------------------- extremes and order --------------------


argsort_stable_out = out_forms.of_same_dtype(out_forms.functional("argsort_stable"))


# -------------------- truth --------------------


def any_dims(input: Tensor, dim: Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
    return _truth_over(ops.any, input, dim, keepdim)


def all_dims(input: Tensor, dim: Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
    return _truth_over(ops.all, input, dim, keepdim)


def any_dims_out(input: Tensor, dim: Sequence[int] | None = None, keepdim: bool = False, *, out: Tensor) -> Tensor:
    return _truth_into(out, "any", any_dims(_converted(input, out), dim, keepdim))


def all_dims_out(input: Tensor, dim: Sequence[int] | None = None, keepdim: bool = False, *, out: Tensor) -> Tensor:
    return _truth_into(out, "all", all_dims(_converted(input, out), dim, keepdim))


def _converted(input: Tensor, out: Tensor) -> Tensor:
    """The elements that are asked for: those of a result of bytes."""
    return input.to(uint8) if out.dtype is uint8 else input


def _truth_into(out: Tensor, op: str, result: Tensor) -> Tensor:
    if out.dtype not in (boolean, uint8):
        raise RuntimeError(f"{op} only supports bool tensor for result, got: {out.dtype.storage_name}")
    return write_out(out, result)


def _truth_over(reduce: Any, input: Tensor, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    """One dimension after the other, the last one first; no dimension at all leaves the truth of every element."""
    ndim = input.ndim
    dims = range(ndim) if dim is None else geometry.wrap_dims(dim, ndim)
    if not dims:
        return input.ne(0).to(uint8 if input.dtype is uint8 else boolean).contiguous()
    for each in sorted(dims, reverse=True):
        input = reduce(input, each, keepdim)
    return input


# -------------------- spread --------------------


# -------------------- softmax --------------------


def safe_softmax(input: Tensor, dim: int, dtype: Dtype | None = None) -> Tensor:
    """The softmax, and zero instead of nan where everything is masked by -inf."""
    blocked = (input == -math.inf).all(dim, keepdim=True)  # twice, for the gradient of nan is nan
    return ops.softmax(input.masked_fill(blocked, 0.0), dim, dtype).masked_fill(blocked, 0.0)


# -------------------- norms and counts --------------------


def norm(input: Tensor, p: float = 2) -> Tensor:
    _check_norm_dtype(input)
    return ops.linalg_vector_norm(input, p)


def norm_dim(input: Tensor, p: float | None, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    _check_norm_dtype(input)
    return ops.linalg_vector_norm(input, 2 if p is None else p, dim, keepdim)


def norm_dim_out(input: Tensor, p: float | None, dim: Sequence[int], keepdim: bool = False, *, out: Tensor) -> Tensor:
    _check_norm_dtype(input)
    return ops.linalg_vector_norm_out(input, 2 if p is None else p, dim, keepdim, out=out)


def _check_norm_dtype(input: Tensor) -> None:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {input.dtype.storage_name} instead."
        )


# -------------------- several statistics --------------------


# -------------------- without NaN --------------------


def nanmean(input: Tensor, dim: Dims, keepdim: bool, dtype: Dtype | None) -> Tensor:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got " + input.dtype.storage_name
        )
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            f"Got: {dtype.storage_name}"
        )
    dims = tuple(range(input.ndim)) if dim is None else dim
    total = ops.nansum(input, dims, keepdim, dtype=dtype)
    return total / ops.sum(~ops.isnan(input.detach()), dims, keepdim)


def nanmean_out(input: Tensor, dim: Dims, keepdim: bool, dtype: Dtype | None, out: Tensor) -> Tensor:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            "nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors."
        )
    return out_forms.put(out, nanmean(input, dim, keepdim, dtype))


# -------------------- neighbours and order --------------------


def msort_out(input: Tensor, out: Tensor) -> Tensor:
    result = ops.msort(input)
    out_forms.check_dtype(result, out)
    written: Tensor = write_out(out, result)
    return written


def diff(input: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, input, append) if part is not None]
    joined = ops.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, joined.size(dim))):
        joined = _difference(joined, dim)
    if n == 0:
        return ops.zeros_like(input).copy_(input)  # as torch records it
    return joined


def diff_out(input: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None, out: Tensor) -> Tensor:
    result = diff(input, n, dim, prepend, append)
    if n == 0:
        out_forms.check_dtype(result, out, "expected scalar_type {result} but found {out}")
    return out_forms.put(out, result)


def _difference(tensor: Tensor, dim: int) -> Tensor:
    count = tensor.size(dim) - 1
    later, earlier = tensor.narrow(dim, 1, count), tensor.narrow(dim, 0, count)
    return ops.logical_xor(later, earlier) if tensor.dtype is boolean else later - earlier


# -------------------- to a smaller shape --------------------


def sum_to_size(input: Tensor, size: Sequence[int]) -> Tensor:
    shape = tuple(input.shape)
    lead = len(shape) - len(size)
    if lead < 0 or any(wanted not in (1, own) for wanted, own in zip(size, shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    if not size:
        return input.sum()
    summed = [place for place in range(len(shape)) if place < lead or size[place - lead] != shape[place]]
    if not summed:
        return input
    total = input.sum(summed, True)
    return total.view(tuple(size)) if lead else total
