"""Formulas of arithmetic, powers, phases, bounds and other functions of single elements."""

import math

from mindtorch._core import state
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.fast_path import SHORT_CUT_FAILED
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor, new_object
from mindtorch.autograd.formulas.common import conj, is_differentiated, real, zeros_of_any_sample
from mindtorch.dispatch import ops
from mindtorch.dispatch.registry import kernel_table

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)
SQRT_HALF = math.sqrt(0.5)
_mul_kernels = kernel_table("mul.Tensor")


def mul_backward(grad, other):
    """Gradient of x * other with respect to x.

    The most frequent formula of all: for plain tensors, when nothing is recorded or watched, it is the bare product.
    """
    kind = grad._mt_kind
    if kind and type(other) is Tensor and kind is other._mt_kind and not (state.recorded_passes or state.interceptors):
        try:
            array = _mul_kernels.direct(grad._mt_array, other._mt_array)
        except SHORT_CUT_FAILED:
            pass
        else:
            product = new_object(Tensor)
            product._mt_array = array
            product._mt_kind = kind
            product._mt_version = product._mt_edge = product._mt_meta = None
            return product
    return grad * conj(other)


def div_backward(grad, other):
    """Gradient of x / other with respect to x."""
    return grad / conj(other)


def div_other_backward(grad, self, other):
    """Gradient of self / other with respect to other."""
    return -grad * conj((self / other) / other)


def div_mode_backward(grad, other, rounding_mode):
    """As div_backward; a rounded quotient is flat."""
    return div_backward(grad, other) if rounding_mode is None else ops.zeros_like(grad)


def div_mode_other_backward(grad, self, other, rounding_mode):
    """As div_other_backward; a rounded quotient is flat."""
    return div_other_backward(grad, self, other) if rounding_mode is None else ops.zeros_like(grad)


def div_mode_jvp(dividend_t, other, result, rounding_mode):
    """Tangent of a quotient, given that of the dividend when the quotient stays; zero for a rounded one."""
    return dividend_t / other if rounding_mode is None else ops.zeros_like(result)


def pow_backward(grad, self, exponent):
    """Gradient of self ** number with respect to self."""
    if exponent == 0:
        return ops.zeros_like(self, memory_format=contiguous_format)
    return grad * conj(exponent * self.pow(exponent - 1))


def pow_self_backward(grad, self, exponent):
    """Gradient of self ** tensor with respect to self; flat where the exponent is 0, also at 0 ** 0."""
    slope = grad * conj(exponent * ops.pow(self, exponent - 1))
    return ops.where(exponent == 0, 0.0, slope)


def pow_exponent_backward(grad, self, exponent, result):
    """Gradient of self ** exponent with respect to the exponent; 0 ** positive stays 0."""
    flat = (self == 0) & (_is_real_nonnegative(exponent))
    return grad * ops.where(flat, 0.0, conj(result * self.to(result.dtype).log()))


def pow_slope(self, exponent):
    """Derivative of self ** exponent in self."""
    return ops.where(exponent == 0, 0.0, exponent * ops.pow(self, exponent - 1))


def pow_exponent_slope(self, exponent, result):
    """Derivative of self ** exponent in the exponent."""
    return ops.where((self == 0) & _is_real_nonnegative(exponent), 0.0, result * self.to(result.dtype).log())


def pow_scalar_exponent_backward(grad, self, exponent, result):
    """Gradient of number ** exponent with respect to the exponent."""
    if self == 0:
        return grad * ops.where(_is_real_nonnegative(exponent), 0.0, conj(result * -math.inf))
    log = ops.log(ops.scalar_tensor(self, dtype=result.dtype))
    return grad * conj(result * log)


def _is_real_nonnegative(exponent):
    if exponent.is_complex():
        return (exponent.imag == 0) & (exponent.real >= 0)
    return exponent >= 0


def abs_jvp(self_t, self):
    """Tangent of |self|: the tangent's component along self."""
    return real(self_t * conj(self.sgn()))


def sgn_backward(grad, self, result):
    """Gradient of self / |self|: only what turns the phase counts. Zero for real tensors."""
    if not self.is_complex():
        return zeros_of_any_sample(self)
    length = self.abs()
    along = (grad * conj(result)).real * result
    return ((grad - along) / length).masked_fill_(length == 0, 0)


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


def clamp_backward(grad, self, min, max):
    """Gradient of clamp with respect to its input: passes inside the bounds, the bounds included."""
    if min is None and max is None:
        return grad
    inside = self >= min if min is not None else self <= max
    if min is not None and max is not None:
        inside = inside & (self <= max)
    return ops.where(inside, grad, 0.0)


def clamp_bounds_backward(grad, self, min, max, needs_min, needs_max):
    """Gradients of clamp with respect to its bounds; where min > max the result is max."""
    min_grad = max_grad = None
    if needs_min:
        active = self < min if max is None else (min < max) & (self < min)
        min_grad = ops.where(active, grad, 0.0)
    if needs_max:
        active = self > max if min is None else (self > max) | (max < min)
        max_grad = ops.where(active, grad, 0.0)
    return min_grad, max_grad


def clamp_jvp(self, self_t, min, min_t, max, max_t):
    """Tangent of clamp with tensor bounds."""
    result = self_t
    if min is not None:
        result = ops.where(self >= min, result, min_t)
        self = ops.maximum(self, min)
    if max is not None:
        result = ops.where(self <= max, result, max_t)
    return result


def extremum_backward(grad, self, other, passed_over):
    """Gradient of maximum/minimum for one side: nothing where it was `passed_over`, half of it where both are equal.

    With a nan on either side all of it goes to both.
    """
    return ops.where(self == other, grad / 2, grad).masked_fill_(passed_over, 0)


def extremum_jvp(self, self_t, other, other_t, chosen):
    """Tangent of maximum/minimum; ties take the mean. As in torch, an infinite one makes it nan, chosen or not."""
    share = ops.where(self == other, 0.5, chosen.to(self_t.dtype))
    return other_t + share * _difference(self_t, other_t)


def larger_of_numbers_jvp(self_t, other_t, chosen):
    """Tangent of fmax/fmin, in the same way."""
    return other_t + chosen * _difference(self_t, other_t)


def _difference(self_t, other_t):
    """One of them may be the zeros of a tensor of booleans."""
    if self_t.dtype is boolean:
        return self_t.to(other_t.dtype) - other_t
    return self_t - (other_t.to(self_t.dtype) if other_t.dtype is boolean else other_t)


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
