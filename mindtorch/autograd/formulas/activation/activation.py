"""Formulas of the activation functions."""

import math

from mindtorch.autograd.formulas.common import conj, is_differentiated
from mindtorch.dispatch import ops


def gelu_double_backward(grad, grad_output, self, approximate):
    """Gradient of gelu_backward with respect to its input: gelu's second derivative."""
    if approximate == "tanh":
        return grad * grad_output * _gelu_tanh_curvature(self)
    density = (-0.5 * self * self).exp() / math.sqrt(2.0 * math.pi)
    return grad * grad_output * density * (2 - self * self)


def _gelu_tanh_curvature(x):
    scale, cubic = math.sqrt(2.0 / math.pi), 0.044715
    inner = scale * (x + cubic * x.pow(3))
    slope = scale * (1 + 3 * cubic * x * x)
    flat = inner.cosh().reciprocal().square()  # 1 - tanh², which rounding would leave nothing of where it is small
    return flat * slope + 0.5 * x * flat * (6 * scale * cubic * x - 2 * inner.tanh() * slope * slope)


def elu_double_backward(grad, grad_output, alpha, scale, input_scale, is_result, self_or_result):
    """Gradient of elu_backward with respect to its input: an exponential up to 0, nothing elsewhere."""
    curved = grad * grad_output * input_scale
    if not is_result:
        curved = ops.elu_backward(curved, alpha, scale, input_scale, False, self_or_result)
    return curved * (self_or_result < 0)


def mish_formula_backward(grad, self):
    """Gradient of x * tanh(softplus(x)). The slope of softplus is the sigmoid.

    What may be differentiated is written as in torch, whose second derivative is nan where the exponential is infinite.
    """
    softplus = self.exp().log1p() if is_differentiated(grad, self) else ops.softplus(self)
    squashed = softplus.tanh()
    return grad * (squashed + self * self.sigmoid() * (1 - squashed * squashed))


def prelu_slopes_backward(grad, grad_slope, self, weight):
    """Gradient of the gradients of prelu's input and slope, either of which may be missing, with respect to theirs."""
    through = 0 if grad is None else grad
    falling = 0 if grad is None else grad * weight
    if grad_slope is not None:
        falling = falling + grad_slope * self
    return ops.where(self >= 0, through, falling)


def falling_slopes(grad, grad_output, self, shape):
    """What prelu's two arguments have to do with each other's gradients: nothing where the input is not negative."""
    return self.new_zeros(shape) if grad is None else ops.where(self >= 0, 0, grad_output * grad)


def glu_double_backward_grad_output(grad, self, dim):
    """Gradient of glu_backward with respect to the gradient that it got."""
    ones = self.new_ones(self.chunk(2, dim)[0].shape)
    through, gated = (grad * ops.glu_backward(ones, self, dim)).chunk(2, dim)
    return through + gated


def glu_double_backward(grad, grad_output, self, dim):
    """Gradient of glu_backward with respect to its input."""
    (through, gated), (first, second) = grad.chunk(2, dim), self.chunk(2, dim)
    gate = second.sigmoid()
    slope = grad_output * gate * (1 - gate)
    return ops.cat([slope * gated, slope * (through + first * gated * (1 - 2 * gate))], dim)


def log_sigmoid_double_backward(grad, self):
    sigmoid = self.sigmoid()
    return grad * (sigmoid - 1) * sigmoid


def silu_formula_backward(grad, self):
    """Gradient of x * sigmoid(x), for real and complex input."""
    sigmoid = self.sigmoid()
    return grad * conj(sigmoid * (1 + self * (1 - sigmoid)))


def silu_double_backward(grad, grad_output, self):
    """Gradient of silu_backward with respect to its input."""
    sigmoid = self.sigmoid()
    slope = sigmoid * (1 - sigmoid)
    return grad * grad_output * slope * (2 + self * (1 - 2 * sigmoid))


def softplus_double_backward(grad, self, beta, threshold):
    """Curvature of softplus times grad; none where it is linear."""
    sigmoid = (self * beta).sigmoid()
    curved = grad * sigmoid * (1 - sigmoid) * beta
    return ops.where(self * beta >= threshold, 0.0, curved)
