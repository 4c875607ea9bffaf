"""Pointwise ops that are written in other ops: numbers where a tensor is expected, squares, conjugates."""

from __future__ import annotations

from mindtorch.dispatch import ops
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
    return input.copy_(ops._conj_physical(input)) if input.is_complex() else input


def where_condition(condition: Tensor) -> tuple[Tensor, ...]:
    """The indices of the elements that are set, one tensor per dimension."""
    if condition.ndim == 0:
        condition = condition.unsqueeze(0)
    return condition.nonzero().unbind(1)
