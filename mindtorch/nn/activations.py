"""Nonlinearities that are written in other ops; `functional` exports them."""

from __future__ import annotations

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where it is positive, alpha * (exp(input) - 1) elsewhere."""
    return ops.elu_(input, alpha) if inplace else ops.elu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the constants that keep mean 0 and variance 1."""
    return ops.selu_(input) if inplace else ops.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where it is positive, alpha * (exp(input / alpha) - 1) elsewhere."""
    return ops.celu_(input, alpha) if inplace else ops.celu(input, alpha)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input))."""
    return ops.mish_(input) if inplace else ops.mish(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 0.5, limited to the range from 0 to 1."""
    return ops.hardsigmoid_(input) if inplace else ops.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input)."""
    return ops.hardswish_(input) if inplace else ops.hardswish(input)


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """input moved by lambd towards zero, and no further."""
    return ops.softshrink(input, lambd, out=out)


def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)."""
    return input - input.tanh()


def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(sigmoid(input)), without overflow."""
    return ops.log_sigmoid(input, out=out)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """input where it is larger than threshold, value elsewhere."""
    return ops.threshold_(input, threshold, value) if inplace else ops.threshold(input, threshold, value)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second half."""
    return ops.glu(input, dim)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the relaxed categorical distribution; `hard`: one-hot, with the gradient of the relaxed one."""
    noise = -ops.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = ops.zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)
    return chosen - soft.detach() + soft


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """input, times a slope where it is negative: in training a random one for each element, else the mean slope."""
    return (ops.rrelu_ if inplace else ops.rrelu)(input, lower, upper, training)


elu_ = ops.elu_
threshold_ = ops.threshold_
rrelu_ = ops.rrelu_
selu_ = ops.selu_
celu_ = ops.celu_
