"""Formulas of arithmetic and powers."""

import math

from mindtorch._core import state
from mindtorch._core.fast_path import FAST_PATH_FAILED
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor, new_object
from mindtorch.autograd.formulas.common import conj, real, zeros_of_any_sample
from mindtorch.dispatch import ops
from mindtorch.dispatch.registry import kernel_table

_mul_kernels = kernel_table("mul.Tensor")


def mul_backward(grad, other):
    """Gradient of x * other with respect to x.

    The most frequent formula of all: for plain tensors, when nothing is recorded or watched, it is the bare product.
    """
    kind = grad._mt_kind
    if kind and type(other) is Tensor and kind is other._mt_kind and not (state.recorded_passes or state.active_modes):
        try:
            array = _mul_kernels.direct(grad._mt_array, other._mt_array)
        except FAST_PATH_FAILED:
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
