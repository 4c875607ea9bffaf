"""Formulas of what fills and copies tensors."""

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def copy_jvp(self_t, src_t):
    """Tangent of copy_: the source's, in the destination's shape."""
    return src_t.expand(self_t.shape) if isinstance(src_t, Tensor) else ops.zeros_like(self_t)


def fill_jvp(self_t, value_t):
    """Tangent of fill with a tensor value."""
    return value_t.to(self_t.dtype).expand(self_t.shape)
