"""Operations along a dimension that leave out masked elements: `mindtorch.masked.softmax` and its kin."""

from typing import Any

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.masked.masks import canonical_dims, filled, filled_strided
from mindtorch.masked.reductions import norm


def softmax(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Any = None) -> Tensor:
    """The softmax of the elements that are not masked out; the others are 0."""
    axis, data = _prepared("softmax", "amax", input, dim, mask)
    return ops.softmax(data, axis, dtype=dtype or input.dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Any = None) -> Tensor:
    """The logarithm of `softmax`."""
    axis, data = _prepared("log_softmax", "amax", input, dim, mask)
    return ops.log_softmax(data, axis, dtype=dtype or input.dtype)


def softmin(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Any = None) -> Tensor:
    """The softmax of the negative elements."""
    axis, data = _prepared("softmin", "amin", input, dim, mask)
    return ops.softmax(-data, axis, dtype=dtype or input.dtype)


def cumsum(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Any = None) -> Tensor:
    """The sums up to each element."""
    axis, data = _prepared("cumsum", "sum", input, dim, mask)
    return ops.cumsum(data, axis, dtype=dtype or input.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Any = None) -> Tensor:
    """The products up to each element."""
    axis, data = _prepared("cumprod", "prod", input, dim, mask)
    return ops.cumprod(data, axis, dtype=dtype or input.dtype)


def _prepared(op: str, ignoring: str, input: Tensor, dim: int, mask: Any) -> tuple[int, Tensor]:
    """The dimension, and the input with what another operation ignores in the place of masked-out elements."""
    axis = canonical_dims(dim, input.ndim)[0]
    return axis, filled_strided(op, input, mask, ignoring=ignoring)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Dtype | None = None, mask: Any = None
) -> Tensor:
    """The elements divided by their norm, or by `eps` if that is larger."""
    data = filled_strided("normalize", input, mask, ignoring="sum")
    length = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return data / ops.maximum(length, length.new_full([], eps))


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Dtype | None = None, input_mask: Any = None, other_mask: Any = None
) -> Tensor:
    """The logarithm of the sum of the exponentials of two tensors, each with a mask."""
    if input.layout is not strided or other.layout is not strided:
        raise ValueError(
            f"masked logaddexp expects strided tensors (got {input.layout} tensor for input, {other.layout} for other)"
        )
    first = filled("logaddexp", input, input_mask)
    second = filled("logaddexp", other, other_mask)
    return ops.logaddexp(first, second).to(dtype or input.dtype)
