"""rrelu: negative elements times slopes that are random in training."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float16, float64
from mindtorch._core.promotion import real_number
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def rrelu(
    input: Tensor, lower: Any = 1 / 8, upper: Any = 1 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """In training a random slope for each element, else the mean slope."""
    lower, upper = _checked_bounds(lower, upper)
    return ops.rrelu_with_noise(input, ops.empty_like(input), lower, upper, training, generator)


def rrelu_with_noise(
    input: Tensor, noise: Tensor, lower: Any = 1 / 8, upper: Any = 1 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """The same; in training `noise` becomes the slopes."""
    if input.shape != noise.shape:
        raise RuntimeError(
            "noise tensor shape must match self tensor shape. "
            f"Got self.shape = {list(input.shape)} noise.shape = {list(noise.shape)}"
        )
    if not training:
        return ops.leaky_relu(input.contiguous(), (lower + upper) / 2)
    slopes = _slopes(input, lower, upper, generator)
    noise.data.copy_(slopes)  # of which the graph, that keeps it, must not hear
    return input.contiguous() * slopes


def rrelu_with_noise_backward(
    grad_output: Tensor, input: Tensor, noise: Tensor, lower: Any, upper: Any, training: bool, self_is_result: bool
) -> Tensor:
    if training and upper - lower > 1e-6:
        return noise * grad_output
    slope = (real_number(lower) + real_number(upper)) / 2
    return ops.leaky_relu_backward(grad_output, input, slope, self_is_result)


def rrelu_(
    input: Tensor, lower: Any = 1 / 8, upper: Any = 1 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    lower, upper = _checked_bounds(lower, upper)
    if not training:
        return ops.leaky_relu_(input, (lower + upper) / 2)
    return input.mul_(_slopes(input, lower, upper, generator))


def _checked_bounds(lower: complex, upper: complex) -> tuple[float, float]:
    low, high = real_number(lower), real_number(upper)
    if low > high:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    return low, high


def _slopes(input: Tensor, lower: float, upper: float, generator: Any) -> Tensor:
    """1 where input is positive; random numbers are drawn for the other elements only, in their order."""
    if not input.is_floating_point() or input.dtype is float16:
        raise NotImplementedError(f"\"rrelu_with_noise_out_cpu\" not implemented for '{input.dtype.storage_name}'")
    negative = input.detach() <= 0
    slopes = ops.ones_like(input.detach())
    count = int(negative.sum())
    drawn = slopes.new_empty(count, dtype=float64).uniform_(lower, upper, generator=generator).to(input.dtype)
    return slopes.masked_scatter_(negative, drawn)
