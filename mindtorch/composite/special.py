"""Special functions that are written in other ops."""

from __future__ import annotations

import math

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.promotion import can_cast, result_type
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.composite import out_forms
from mindtorch.composite.wrapped_numbers import float_beside
from mindtorch.dispatch import ops


def xlogy_scalar_self(input: complex, other: Tensor) -> Tensor:
    return ops.xlogy(float_beside(input, other), other)


def xlogy_scalar_other(input: Tensor, other: complex) -> Tensor:
    return ops.xlogy(input, float_beside(other, input))


def expit(input: Tensor) -> Tensor:
    return ops.sigmoid(input)


expit_out = out_forms.of_op("sigmoid")
multigammaln_out = out_forms.of_op("mvlgamma")


def xlogy_scalar_self_out(input: complex, other: Tensor, out: Tensor) -> Tensor:
    return ops.xlogy(float_beside(input, other), other, out=out)


def xlogy_scalar_other_out(input: Tensor, other: complex, out: Tensor) -> Tensor:
    return ops.xlogy(input, float_beside(other, input), out=out)


def ndtr(input: Tensor) -> Tensor:
    error = ops.erf(ops.mul_Scalar(input, math.sqrt(0.5)))
    return ops.mul_Scalar(ops.add_Scalar(error, 1), 0.5)


def ndtr_out(input: Tensor, out: Tensor) -> Tensor:
    """Row-major, whatever the strides of the input are."""
    return write_out(out, ndtr(input).contiguous())


def gammainc(input: Tensor, other: Tensor) -> Tensor:
    return ops.igamma(input, other)


def gammainc_out(input: Tensor, other: Tensor, out: Tensor) -> Tensor:
    return ops.igamma(input, other, out=out)


def gammaincc(input: Tensor, other: Tensor) -> Tensor:
    return ops.igammac(input, other)


def gammaincc_out(input: Tensor, other: Tensor, out: Tensor) -> Tensor:
    return ops.igammac(input, other, out=out)


def xlog1py_self_scalar(input: complex, other: Tensor) -> Tensor:
    return ops.special_xlog1py(float_beside(input, other), other)


def xlog1py_self_scalar_out(input: complex, other: Tensor, out: Tensor) -> Tensor:
    return ops.special_xlog1py(float_beside(input, other), other, out=out)


def xlog1py_other_scalar(input: Tensor, other: complex) -> Tensor:
    return ops.special_xlog1py(input, float_beside(other, input))


def xlog1py_other_scalar_out(input: Tensor, other: complex, out: Tensor) -> Tensor:
    return ops.special_xlog1py(input, float_beside(other, input), out=out)


def zeta_self_scalar(input: complex, other: Tensor) -> Tensor:
    return ops.special_zeta(float_beside(input, other), other)


def zeta_self_scalar_out(input: complex, other: Tensor, out: Tensor) -> Tensor:
    return ops.special_zeta(float_beside(input, other), other, out=out)


def zeta_other_scalar(input: Tensor, other: complex) -> Tensor:
    return ops.special_zeta(input, float_beside(other, input))


def zeta_other_scalar_out(input: Tensor, other: complex, out: Tensor) -> Tensor:
    return ops.special_zeta(input, float_beside(other, input), out=out)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of p dimensions."""
    if input.dtype is boolean:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    halves = ops.arange(0.0, -p / 2, -0.5, dtype=result_type(input, 0.5), device=input.device)
    return ops.lgamma(input.unsqueeze(-1) + halves).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


def mvlgamma_out(input: Tensor, p: int, out: Tensor) -> Tensor:
    result = mvlgamma(input, p)
    if not can_cast(result.dtype, out.dtype):
        names = f"{input.dtype.storage_name} can't be cast to the desired output type {result.dtype.storage_name}"
        raise RuntimeError(f"mvlgamma: result type {names}")
    return out_forms.put(out, result.to(out.dtype))


def mvlgamma_(input: Tensor, p: int) -> Tensor:
    result = mvlgamma(input, p)
    if not input.is_floating_point():
        name = input.dtype.storage_name
        raise RuntimeError(f"mvlgamma: result type {name} can't be cast to the desired output type Float")
    return input.copy_(result)


def multigammaln(input: Tensor, p: int) -> Tensor:
    return ops.mvlgamma(input, p)
