"""`make_tensor`: random tensors for tests."""

import math
from collections.abc import Sequence
from math import prod
from typing import Any

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import finfo, iinfo, int64
from mindtorch._core.memory_format import memory_format as MemoryFormat
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops


def make_tensor(
    *shape: Any,
    dtype: Dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A tensor with values from [low, high), from -9 to 9 when nothing is said and the dtype has them."""
    size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    is_float = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got {noncontiguous=} and {memory_format=}"
        )
    if requires_grad and not is_float:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    # Every second column of a wider tensor: the memory in between has other values.
    is_wider = noncontiguous and prod(size) > 1
    limits = _checked_limits(dtype, low, high)
    result = (_floats if is_float else _integers)(
        (*size[:-1], 2 * size[-1]) if is_wider else size, limits, dtype, device
    )
    if is_wider:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = finfo(dtype).tiny if is_float else 1
    return result.requires_grad_() if requires_grad else result


def _integers(size: Sequence[int], limits: tuple[float, float], dtype: Dtype, device: Any) -> Tensor:
    low, high = map(math.ceil, limits)
    return ops.randint(low, high, size, dtype=dtype, device=device)


def _floats(size: Sequence[int], limits: tuple[float, float], dtype: Dtype, device: Any) -> Tensor:
    low, high = limits
    result = ops.empty(size, dtype=dtype, device=device)
    numbers = ops.view_as_real(result) if dtype.is_complex else result
    if high - low >= finfo(numbers.dtype).max:  # more than `uniform_` takes
        numbers.uniform_(low / 2, high / 2).mul_(2)
    else:
        numbers.uniform_(low, high)
    return result


def _range_of(dtype: Dtype) -> tuple[float, float]:
    """What the dtype supports, the end excluded; `randint` cannot make the largest of all integers."""
    if dtype is boolean:
        return 0, 2
    if dtype.is_floating_point or dtype.is_complex:
        return finfo(dtype).min, finfo(dtype).max
    return iinfo(dtype).min, iinfo(dtype).max + (dtype is not int64)


def _default_range(dtype: Dtype) -> tuple[float, float]:
    if dtype is boolean:
        return 0, 2
    return (-9, 9) if dtype.is_floating_point or dtype.is_complex else (-9, 10)


def _checked_limits(dtype: Dtype, low: float | None, high: float | None) -> tuple[float, float]:
    first, last = _default_range(dtype)
    low, high = first if low is None else low, last if high is None else high
    smallest, end = _range_of(dtype)
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and (dtype.is_floating_point or dtype.is_complex):
        warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < smallest or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{smallest}, {end})"
        )
    return min(max(low, smallest), end), min(max(high, smallest), end)
