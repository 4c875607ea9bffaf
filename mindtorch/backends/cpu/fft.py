"""Fourier transforms by NumPy, which keeps single precision."""

import numpy as np

from mindtorch.backends.cpu.casting import deliver

# NumPy's names for what a transform is divided by (nothing, the root of the count, the count), by direction.
_FORWARD = ("backward", "ortho", "forward")
_INVERSE = ("forward", "ortho", "backward")


def fft_c2c(input, dim, normalization, forward, out=None):
    if not dim:
        return deliver(input.copy(), out)
    if forward:
        result = np.fft.fftn(input, axes=dim, norm=_FORWARD[normalization])
    else:
        result = np.fft.ifftn(input, axes=dim, norm=_INVERSE[normalization])
    return deliver(np.ascontiguousarray(result), out)


def fft_r2c(input, dim, normalization, onesided, out=None):
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return deliver(np.ascontiguousarray(transform(input, axes=dim, norm=_FORWARD[normalization])), out)


def fft_c2r(input, dim, normalization, last_dim_size, out=None):
    sizes = [input.shape[each] for each in dim[:-1]] + [last_dim_size]
    result = np.fft.irfftn(input, s=sizes, axes=dim, norm=_INVERSE[normalization])
    return deliver(np.ascontiguousarray(result), out)
