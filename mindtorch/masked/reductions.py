"""Reductions that leave out masked elements: `mindtorch.masked.sum` and its kin."""

from typing import Any, cast

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import float32, int8, int16, int32, int64, uint8
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.masked.masks import Dims, canonical_dims, filled_strided, input_mask

_SUMMED_AS_INT64 = (uint8, boolean, int8, int16, int32)


def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The sum over dimensions."""
    dims = canonical_dims(dim, input.ndim)
    data = filled_strided("sum", input, mask)
    return ops.sum(data, dims, bool(keepdim), dtype=_summed_dtype(input, dtype))


def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The product over dimensions."""
    dims = canonical_dims(dim, input.ndim)
    data = filled_strided("prod", input, mask)
    result = data.to(_summed_dtype(input, dtype))
    for each in reversed(dims):
        result = result.prod(dim=each, keepdim=bool(keepdim))
    return result


def _summed_dtype(input: Tensor, dtype: Dtype | None) -> Dtype:
    return dtype or (int64 if input.dtype in _SUMMED_AS_INT64 else input.dtype)


def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The largest element over dimensions."""
    data = filled_strided("amax", input, mask)
    return ops.amax(data, canonical_dims(dim, data.ndim), bool(keepdim)).to(dtype or input.dtype)


def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The smallest element over dimensions."""
    data = filled_strided("amin", input, mask)
    return ops.amin(data, canonical_dims(dim, data.ndim), bool(keepdim)).to(dtype or input.dtype)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype | None = None,
    mask: Any = None,
) -> Tensor:
    """Where the largest element is; in the input's dtype, if no other is asked for."""
    data = filled_strided("argmax", input, mask)
    return ops.argmax(data, dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype | None = None,
    mask: Any = None,
) -> Tensor:
    """Where the smallest element is; in the input's dtype, if no other is asked for."""
    data = filled_strided("argmin", input, mask)
    return ops.argmin(data, dim, bool(keepdim)).to(dtype or input.dtype)


def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The mean of the elements that are not masked out; nan where there are none."""
    wanted, source = (input.dtype, "Input") if dtype is None else (dtype, "Optional")
    if not (wanted.is_floating_point or wanted.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. "
            f"Got: {wanted}"
        )
    if input.layout is not strided:
        raise ValueError(f"masked mean expects strided or sparse_csr tensor (got {input.layout} tensor)")
    count = _count(input, dim, bool(keepdim), mask)
    return sum(input, dim, keepdim=keepdim, dtype=wanted, mask=mask) / count


def _count(input: Tensor, dim: Dims, keepdim: bool, mask: Any) -> Tensor:
    """How many elements go into each result."""
    if mask is None:
        return ops.sum(ops.ones(input.shape, dtype=int64), canonical_dims(dim, input.ndim), keepdim)
    return input_mask(input, mask).sum(dim=dim, keepdim=keepdim)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The lower of the two elements in the middle."""
    axis = canonical_dims(dim, input.ndim)[0]
    is_float = input.is_floating_point()
    data = filled_strided("median", input if is_float else input.to(float32), mask)
    result = ops.nanmedian(data, axis, keepdim).values
    if is_float:
        return result
    if result.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return result.to(dtype or input.dtype)


def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The logarithm of the sum of the exponentials."""
    dims = canonical_dims(dim, input.ndim)
    data = filled_strided("logsumexp", input, mask)
    return ops.logsumexp(data, dims, keepdim=keepdim).to(dtype or input.dtype)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype | None = None,
    mask: Any = None,
) -> Tensor:
    """The vector norm."""
    data = filled_strided("norm", input, mask, ord)
    dims = canonical_dims(dim, input.ndim)
    return ops.linalg_vector_norm(data, cast(float, ord), dims, bool(keepdim), dtype=dtype or input.dtype)


# -------------------- variance --------------------


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Dtype | None = None,
    mask: Any = None,
) -> Tensor:
    """The variance of the elements that are not masked out."""
    return _variance(input, dim, _correction(unbiased, correction), bool(keepdim), dtype, mask)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Dtype | None = None,
    mask: Any = None,
) -> Tensor:
    """The standard deviation of the elements that are not masked out."""
    return _variance(input, dim, _correction(unbiased, correction), bool(keepdim), dtype, mask).sqrt()


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is not None:
        return float(correction)
    return 1.0 if unbiased is None else float(unbiased)


def _variance(input: Tensor, dim: Dims, correction: float, keepdim: bool, dtype: Dtype | None, mask: Any) -> Tensor:
    if input.layout is not strided:
        raise ValueError(f"masked std/var expects strided tensor (got {input.layout} tensor)")
    dtype = dtype or (input.dtype if _is_inexact(input.dtype) else float32)
    computed = dtype if _is_inexact(dtype) else float32
    count = _count(input, dim, True, mask)
    distance = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    total = sum(distance * distance.conj(), dim, keepdim=keepdim, dtype=computed, mask=mask)
    if not keepdim:
        count = count.reshape(total.shape)
    if correction:
        count = (count.to(computed.to_real()) - correction).clamp_min(0)
    return (total / count).to(dtype)


def _is_inexact(dtype: Dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex
