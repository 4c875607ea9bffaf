"""Pointwise ops that are written in other ops: numbers where a tensor is expected, squares, conjugates."""

from __future__ import annotations

import math

from mindtorch.autograd.history import mark_written
from mindtorch.autograd.outputs import write_out
from mindtorch.dispatch import ops
from mindtorch.dtype import bool as boolean
from mindtorch.dtype import finfo
from mindtorch.promotion import result_type
from mindtorch.tensor import Tensor

Number = bool | int | float | complex


# -------------------- a number as the second operand --------------------


def add_scalar(input: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return ops.add(input, other, alpha=alpha)


def add_scalar_(input: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return input.add_(other, alpha=alpha)


def sub_scalar(input: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return ops.sub(input, other, alpha=alpha)


def sub_scalar_(input: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return input.sub_(other, alpha=alpha)


def mul_scalar(input: Tensor, other: Number) -> Tensor:
    return ops.mul(input, other)


def mul_scalar_(input: Tensor, other: Number) -> Tensor:
    return input.mul_(other)


def div_scalar(input: Tensor, other: Number) -> Tensor:
    return ops.div(input, other)


def div_scalar_(input: Tensor, other: Number) -> Tensor:
    return input.div_(other)


def div_scalar_mode(input: Tensor, other: Number, rounding_mode: str | None) -> Tensor:
    return ops.div(input, other, rounding_mode=rounding_mode)


def div_scalar_mode_(input: Tensor, other: Number, rounding_mode: str | None) -> Tensor:
    return input.div_(other, rounding_mode=rounding_mode)


def floor_divide_scalar(input: Tensor, other: Number) -> Tensor:
    return ops.floor_divide(input, other)


# -------------------- a number as the first operand --------------------


def remainder_scalar_tensor(input: Number, other: Tensor) -> Tensor:
    return ops.remainder(_beside(input, other), other)


def where_scalar_self(condition: Tensor, input: Number, other: Tensor) -> Tensor:
    return ops.where(condition, _beside(input, other), other)


def where_scalar_other(condition: Tensor, input: Tensor, other: Number) -> Tensor:
    return ops.where(condition, input, _beside(other, input))


def where_scalar(condition: Tensor, input: Number, other: Number) -> Tensor:
    dtype = result_type(input, other)
    chosen = [ops.scalar_tensor(number, dtype=dtype, device=condition.device) for number in (input, other)]
    return ops.where(condition, *chosen)


def _beside(number: Number, tensor: Tensor) -> Tensor:
    """The number as a 0-dim tensor that promotes with `tensor` as the number itself does."""
    return ops.scalar_tensor(number, dtype=result_type(tensor, number), device=tensor.device)


# -------------------- other ops --------------------


def square(input: Tensor) -> Tensor:
    return ops.pow(input, 2)


def square_(input: Tensor) -> Tensor:
    return input.pow_(2)


def conj_physical(input: Tensor) -> Tensor:
    return ops._conj_physical(input) if input.is_complex() else input


def conj_physical_(input: Tensor) -> Tensor:
    if input.is_complex():
        return input.copy_(ops._conj_physical(input))
    mark_written(input)
    return input


def conj_physical_out(input: Tensor, out: Tensor) -> Tensor:
    if out.dtype is not input.dtype:
        raise RuntimeError(f"Found dtype {out.dtype.storage_name} but expected {input.dtype.storage_name}")
    return write_out(out, ops._conj_physical(input))


def where_condition(condition: Tensor) -> tuple[Tensor, ...]:
    """The indices of the elements that are set, one tensor per dimension."""
    if condition.ndim == 0:
        condition = condition.unsqueeze(0)
    return condition.nonzero().unbind(1)


# -------------------- second names --------------------


def absolute(input: Tensor) -> Tensor:
    return ops.abs(input)


def absolute_(input: Tensor) -> Tensor:
    return input.abs_()


def negative(input: Tensor) -> Tensor:
    return ops.neg(input)


def negative_(input: Tensor) -> Tensor:
    return input.neg_()


def fix(input: Tensor) -> Tensor:
    return ops.trunc(input)


def fix_(input: Tensor) -> Tensor:
    return input.trunc_()


def clip(input: Tensor, min: Number | None, max: Number | None) -> Tensor:
    return ops.clamp(input, min, max)


def clip_(input: Tensor, min: Number | None, max: Number | None) -> Tensor:
    return input.clamp_(min, max)


def multiply(input: Tensor, other: Tensor) -> Tensor:
    return ops.mul(input, other)


def multiply_(input: Tensor, other: Tensor) -> Tensor:
    return input.mul_(other)


def subtract(input: Tensor, other: Tensor, alpha: Number) -> Tensor:
    return ops.sub(input, other, alpha=alpha)


def subtract_(input: Tensor, other: Tensor, alpha: Number) -> Tensor:
    return input.sub_(other, alpha=alpha)


def divide(input: Tensor, other: Tensor) -> Tensor:
    return ops.div(input, other)


def divide_(input: Tensor, other: Tensor) -> Tensor:
    return input.div_(other)


def divide_mode(input: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    return ops.div(input, other, rounding_mode=rounding_mode)


def divide_mode_(input: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    return input.div_(other, rounding_mode=rounding_mode)


def arctan2(input: Tensor, other: Tensor) -> Tensor:
    return ops.atan2(input, other)


def arctan2_(input: Tensor, other: Tensor) -> Tensor:
    return input.atan2_(other)


def greater(input: Tensor, other: Tensor) -> Tensor:
    return ops.gt(input, other)


def greater_equal(input: Tensor, other: Tensor) -> Tensor:
    return ops.ge(input, other)


def less(input: Tensor, other: Tensor) -> Tensor:
    return ops.lt(input, other)


def less_equal(input: Tensor, other: Tensor) -> Tensor:
    return ops.le(input, other)


def not_equal(input: Tensor, other: Tensor) -> Tensor:
    return ops.ne(input, other)


# -------------------- questions about each element --------------------


def isreal(input: Tensor) -> Tensor:
    return ops.eq(ops.imag(input), 0) if input.is_complex() else ops.ones_like(input, dtype=boolean)


def positive(input: Tensor) -> Tensor:
    if input.dtype is boolean:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def isin(elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    for tensor in (elements, test_elements):
        if tensor.dtype is boolean or tensor.is_complex():
            raise RuntimeError(f"Unsupported input type encountered for isin(): {tensor.dtype.storage_name}")
    found = ops.eq(elements.unsqueeze(-1), test_elements.reshape((-1,))).any(-1)
    return ~found if invert else found


# -------------------- other numbers for NaN and infinity --------------------


def nan_to_num(input: Tensor, nan: float | None, posinf: float | None, neginf: float | None) -> Tensor:
    if input.is_complex():
        parts = [nan_to_num(part, nan, posinf, neginf) for part in (ops.real(input), ops.imag(input))]
        return ops.complex(*parts)
    if not input.is_floating_point():
        return input.clone()
    limits = finfo(input.dtype)
    result, plain = input.clone(), input.detach()
    result.masked_fill_(ops.isnan(plain), 0.0 if nan is None else nan)
    result.masked_fill_(plain == math.inf, limits.max if posinf is None else posinf)
    return result.masked_fill_(plain == -math.inf, limits.min if neginf is None else neginf)
