"""Special functions that are written in other ops."""

from __future__ import annotations

from mindtorch.dispatch import ops
from mindtorch.promotion import result_type
from mindtorch.tensor import Tensor


def xlogy_scalar_self(input: complex, other: Tensor) -> Tensor:
    number = ops.scalar_tensor(input, dtype=result_type(other, input), device=other.device)
    return ops.xlogy(number, other)


def xlogy_scalar_other(input: Tensor, other: complex) -> Tensor:
    number = ops.scalar_tensor(other, dtype=result_type(input, other), device=input.device)
    return ops.xlogy(input, number)


def expit(input: Tensor) -> Tensor:
    return ops.sigmoid(input)
