"""Discrete Fourier transforms, as `torch.fft` names them: the ops of this module in ops.yaml."""

from mindtorch._generated.modules import fft as _ops
from mindtorch._generated.modules.fft import *  # noqa: F403

__all__ = []
__all__ += _ops.__all__
