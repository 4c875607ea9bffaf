"""A backend of its own: tensors on the device `wave`, with kernels in this package.

The device is made up, its memory that of the CPU. A real one would have an array class of its own here, which needs
`shape`, `strides` (in bytes), `ndim`, `size`, `dtype` and `device`, and kernels that call its driver.
"""

import numpy as np

import mindtorch as torch
from mindtorch.dispatch import register_backend, register_kernel


class WaveArray(np.ndarray):
    """Memory of the device."""


def _empty_strided(size, stride, dtype, layout, device, pin_memory):
    return WaveArray(size, dtype.numpy, strides=[step * dtype.itemsize for step in stride])


def _copy(input, src, non_blocking):
    np.copyto(input, src)
    return input


def _to_copy(input, dtype, layout, device, pin_memory, non_blocking, memory_format):
    return np.array(input, subok=device.type == "wave")


register_backend("WAVE", WaveArray, "wave")
WaveArray.device = torch.device("wave")
# How tensors get there and back: these three are ops of mindtorch.
register_kernel("WAVE", "empty_strided", _empty_strided)
register_kernel("WAVE", "copy_", _copy)
register_kernel("WAVE", "_to_copy", _to_copy)
