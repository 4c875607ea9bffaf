"""Formulas of the activation functions."""

import math

from mindtorch.autograd.formulas.common import conj
from mindtorch.dispatch import ops


def gelu_double_backward(grad, grad_output, self, approximate):
    """Gradient of gelu_backward with respect to its input: gelu's second derivative."""
    if approximate == "tanh":
        return grad * grad_output * _gelu_tanh_curvature(self)
    density = (-0.5 * self * self).exp() / math.sqrt(2.0 * math.pi)
    return grad * grad_output * density * (2 - self * self)


def _gelu_tanh_curvature(x):
    scale, cubic = math.sqrt(2.0 / math.pi), 0.044715
    t = (scale * (x + cubic * x * x * x)).tanh()
    slope = scale * (1 + 3 * cubic * x * x)
    flat = 1 - t * t
    return flat * slope + 0.5 * x * flat * (6 * scale * cubic * x - 2 * t * slope * slope)


def elu_formula_backward(grad, self, alpha, scale, input_scale):
    """Gradient of elu: the slope is an exponential up to 0, constant elsewhere, for nan too."""
    falling = alpha * scale * input_scale * (ops.where(self < 0, self, 0.0) * input_scale).exp()
    return grad * ops.where(self <= 0, falling, scale)


def elu_result_backward(grad, result, alpha, scale, input_scale):
    """The same from elu's result, which an in-place call leaves: the exponential is in it."""
    falling = input_scale * (result.clamp(max=0) + alpha * scale)
    return grad * ops.where(result <= 0, falling, scale)


def mish_formula_backward(grad, self):
    """Gradient of x * tanh(softplus(x)). The slope of softplus is the sigmoid."""
    squashed = ops.softplus(self).tanh()
    return grad * (squashed + self * self.sigmoid() * (1 - squashed * squashed))


def hardswish_formula_backward(grad, self):
    """Gradient of x * clamp(x + 3, 0, 6) / 6."""
    rising = ops.where(self < 3, grad * (self / 3 + 0.5), grad)
    return ops.where(self <= -3, 0.0, rising)  # even if the gradient is nan


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
    return ops.where(self * beta > threshold, 0.0, curved)
