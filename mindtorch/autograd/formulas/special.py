"""Formulas of special functions."""

import math

from mindtorch.dispatch import ops

SQRT_PI = math.sqrt(math.pi)
SQRT_TWO_PI = math.sqrt(2 * math.pi)


def xlogy_self_backward(grad, self, other):
    """Gradient of self * log(other) with respect to self; 0 * log(0) is flat, and nothing comes of a gradient of 0."""
    return ops.xlogy(grad, other).masked_fill((self == 0) & (other <= 0), 0)


def xlog1py_self_backward(grad, self, other):
    """Gradient of self * log(1 + other) with respect to self; 0 * log(0) is flat."""
    return ops.special_xlog1py(grad, other).masked_fill((self == 0) & (other <= -1), 0)


def i1_backward(grad, self, result):
    """Gradient of the Bessel function of order one."""
    return grad * ops.where(self == 0, 0.5, ops.i0(self) - result / self)


def i1e_backward(grad, self, result):
    """Gradient of the same, scaled by exp(-abs(x))."""
    slope = ops.special_i0e(self) - result * (self.sgn() + self.reciprocal())
    return grad * ops.where(self == 0, 0.5, slope)


def mvlgamma_backward(grad, self, p):
    """Gradient of the multivariate gamma function's logarithm, a sum over arguments that are 1/2 apart."""
    halves = ops.arange(0.0, -p / 2, -0.5, dtype=self.dtype, device=self.device)
    return grad * (self.unsqueeze(-1) + halves).digamma().sum(-1)
