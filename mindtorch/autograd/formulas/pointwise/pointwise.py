"""Formulas of phases and other functions of single elements."""

import math

from mindtorch._core.layout import strided
from mindtorch._support.warnings import warn_once
from mindtorch.autograd.formulas.common import conj, is_differentiated
from mindtorch.dispatch import ops

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)
SQRT_HALF = math.sqrt(0.5)


def angle_backward(grad, self):
    """Gradient of the phase; zero for real tensors."""
    if not self.is_complex():
        return ops.zeros_like(self)
    squared = self.real * self.real + self.imag * self.imag
    slope = ops.complex(-self.imag * grad / squared, self.real * grad / squared)
    return ops.where(self == 0, 0.0, slope)


def angle_jvp(self_t, self):
    """Tangent of the phase; of a real tensor it is the same for all directions."""
    if not self.is_complex():
        return ops.zeros_like(self)
    squared = self.real * self.real + self.imag * self.imag
    turned = (self.real * self_t.imag - self.imag * self_t.real) / squared
    return ops.where(self == 0, 0.0, turned)


def acosh_backward(grad, self):
    """The product of two roots, not the root of a product, has the right sign for complex numbers."""
    if self.is_complex():
        return grad * conj((self + 1).rsqrt() * (self - 1).rsqrt())
    return grad * (self * self - 1).rsqrt()


def sinc_backward(grad, self):
    """The slope of sin(pi x) / (pi x), which is flat at 0."""
    angle = self * math.pi
    square = self * angle
    slope = (angle * angle.cos() - angle.sin()) / square
    return ops.where(square == 0, 0.0, grad * conj(slope))


def copysign_backward(grad, self, result):
    """A zero has no sign to give: its gradient is 0."""
    return grad * (result / self).masked_fill_(self == 0, 0)


def logit_backward(grad, self, eps):
    """Flat where eps has taken the place of the input; without eps there is nothing outside of 0 to 1."""
    limited = eps is not None and eps >= 0
    low, high = (eps, 1 - eps) if limited else (0, 1)
    outside = (self < low) | (self > high)
    positive = self if is_differentiated(grad, self) else self + 0.0  # what -0.0 is not
    return ops.where(outside, 0.0 if limited else math.nan, grad / (positive * (1 - positive)))


def reciprocal_or_zero(value):
    """1 / value, and 0 where the value is 0."""
    return value.reciprocal().masked_fill(value == 0, 0)


def log1p_backward(grad, self):
    """Gradient of log1p; sparse tensors have no sum with a number."""
    if self.layout is strided:
        return grad / conj(self + 1)
    warn_once(
        "log1p_backward: received self with sparse layout, but backward requires materialization of a dense tensor "
        "with this shape"
    )
    return grad * conj(self.to_dense() + 1).reciprocal()
