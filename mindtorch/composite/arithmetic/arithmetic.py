"""Arithmetic that is written in other ops: numbers where a tensor is expected, second names."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import complex128, float64
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.dispatch import ops

Number = bool | int | float | complex


# -------------------- powers in double precision --------------------


def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    base, power = _in_double(input, exponent)
    return ops.pow(base, power)


def float_power_(input: Tensor, exponent: Tensor | Number) -> Tensor:
    dtype = _double_of(input, exponent)
    if input.dtype is not dtype:
        raise _unfit("base given to float_power_", input, dtype)
    return input.pow_(_in_double(input, exponent)[1])


def float_power_out(input: Tensor | Number, exponent: Tensor | Number, out: Tensor) -> Tensor:
    dtype = _double_of(input, exponent)
    if out.dtype is not dtype:
        raise _unfit("output given to float_power", out, dtype)
    base, power = _in_double(input, exponent)
    return write_out(out, ops.pow(base, power))


def _double_of(*operands: Tensor | Number) -> Dtype:
    is_complex = any(each.is_complex() if isinstance(each, Tensor) else isinstance(each, complex) for each in operands)
    return complex128 if is_complex else float64


def _in_double(*operands: Tensor | Number) -> list[Any]:
    dtype = _double_of(*operands)
    convert: Any = complex if dtype is complex128 else float
    return [each.to(dtype) if isinstance(each, Tensor) else convert(each) for each in operands]


def _unfit(role: str, tensor: Tensor, dtype: Dtype) -> RuntimeError:
    return RuntimeError(
        f"the {role} has dtype {tensor.dtype.storage_name} but the operation's result requires dtype "
        f"{dtype.storage_name}"
    )


# -------------------- questions about each element --------------------


def positive(input: Tensor) -> Tensor:
    if input.dtype is boolean:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input
