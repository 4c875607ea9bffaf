"""Formulas of special functions."""

import math

from mindtorch._core.dtype import bfloat16, finfo, float16
from mindtorch.dispatch import ops

SQRT_PI = math.sqrt(math.pi)
SQRT_TWO_PI = math.sqrt(2 * math.pi)


def xlogy_self_backward(grad, self, other):
    """Gradient of self * log(other) with respect to self; 0 * log(0) is flat, and nothing comes of a gradient of 0."""
    return ops.xlogy(grad, other).masked_fill((self == 0) & (other <= 0), 0)


def xlog1py_self_backward(grad, self, other):
    """Gradient of self * log(1 + other) with respect to self; 0 * log(0) is flat."""
    return ops.special_xlog1py(grad, other).masked_fill((self == 0) & (other <= -1), 0)


def xlogy_number_backward(grad, self, other):
    """The same for a number, of which it is known whether it is positive."""
    slope = ops.xlogy(grad, other)
    return slope if other > 0 else slope.masked_fill(self == 0, 0)


def xlog1py_number_backward(grad, self, other):
    """The same for a number, of which it is known whether it is above -1."""
    slope = ops.special_xlog1py(grad, other)
    return slope if other > -1 else slope.masked_fill(self == 0, 0)


def i1_backward(grad, self, result):
    """Gradient of the Bessel function of order one; near 0, and for nan, that at 0."""
    _check_width("i1_backward", self)
    usual, divisor = _away_from_zero(self)
    return grad * ops.where(usual, ops.i0(divisor) - result / divisor, 0.5)


def i1e_backward(grad, self, result):
    """Gradient of the same, scaled by exp(-abs(x))."""
    _check_width("i1e_backward", self)
    usual, divisor = _away_from_zero(self)
    slope = ops.special_i0e(divisor) - result * (divisor.sgn() + divisor.reciprocal())
    return grad * ops.where(usual, slope, 0.5)


def _check_width(formula, tensor):
    if tensor.dtype in (float16, bfloat16):
        raise NotImplementedError(f"\"{formula}\" not implemented for '{tensor.dtype.storage_name}'")


def _away_from_zero(tensor):
    """Where the elements are not tiny, and the tensor with the others replaced, so that no second derivative is nan."""
    smallest = finfo(tensor.dtype).eps
    usual = tensor.abs() > smallest
    return usual, ops.where(usual, tensor, smallest)


def mvlgamma_backward(grad, self, p):
    """Gradient of the multivariate gamma function's logarithm, a sum over arguments that are 1/2 apart."""
    halves = ops.arange(0.0, -p / 2, -0.5, dtype=self.dtype, device=self.device)
    return grad * (self.unsqueeze(-1) + halves).digamma().sum(-1)
