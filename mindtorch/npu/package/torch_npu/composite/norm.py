"""Norms by the root of the mean square."""

from mindtorch._core.dtype import float32
from mindtorch.dispatch import ops


def npu_rms_norm(input, gamma, epsilon):
    """Rows divided by the root of their mean square, times `gamma`; and what they were multiplied by, in float32."""
    dims = tuple(range(-gamma.dim(), 0))
    wide = input if input.element_size() > 2 else input.to(float32)
    rstd = ops.rsqrt(ops.mean(wide * wide, dims, True) + epsilon)
    return (wide * rstd).to(input.dtype) * gamma, rstd


def npu_add_rms_norm(x1, x2, gamma, epsilon):
    """The same of a sum, and the sum."""
    total = x1 + x2
    return (*npu_rms_norm(total, gamma, epsilon), total)
