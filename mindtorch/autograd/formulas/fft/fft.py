"""Formulas of Fourier transforms."""

from mindtorch.autograd.formulas.common import wrapped
from mindtorch.dispatch import ops


def fft_r2c_backward(grad, dim, normalization, onesided, shape):
    """Gradient of a real-to-complex transform: transform back, real part. The half that was left out is zero."""
    if onesided:
        last = dim[-1]
        missing = shape[last] - grad.shape[last]
        if missing > 0:
            width = [0, 0] * (grad.ndim - 1 - wrapped(last, grad.ndim)) + [0, missing]
            grad = ops.constant_pad_nd(grad, width, 0)
    return ops._fft_c2c(grad, dim, normalization, False).real


def fft_c2r_backward(grad, dim, normalization):
    """Gradient of a complex-to-real transform: each inner frequency stands for two."""
    result = ops._fft_r2c(grad, dim, normalization, True)
    doubled = grad.shape[dim[-1]] - result.shape[dim[-1]]
    if doubled > 0:
        count = result.shape[dim[-1]]
        weight = ops.ones((count,), dtype=grad.dtype, device=grad.device)
        weight[1 : 1 + doubled] = 2
        after = result.ndim - 1 - wrapped(dim[-1], result.ndim)
        result = result * weight.reshape([-1] + [1] * after)
    return result
