"""Special functions that are written in other ops."""

from __future__ import annotations

import math

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.promotion import can_cast, result_type
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.composite.common import out_forms
from mindtorch.dispatch import ops


def ndtr_out(input: Tensor, out: Tensor) -> Tensor:
    """Row-major, whatever the strides of the input are."""
    return write_out(out, ops.special_ndtr(input).contiguous())


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
