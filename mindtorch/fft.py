"""Discrete Fourier transforms, as `torch.fft` names them."""

from mindtorch._generated.ops.fft import fft_fft as fft
from mindtorch._generated.ops.fft import fft_ifft as ifft
from mindtorch._generated.ops.fft import fft_irfft as irfft
from mindtorch._generated.ops.fft import fft_rfft as rfft

__all__ = ["fft", "ifft", "irfft", "rfft"]
