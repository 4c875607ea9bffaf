"""Fourier transforms by NumPy, which keeps single precision."""

from collections.abc import Sequence

import numpy as np

from mindtorch import geometry
from mindtorch.backends.cpu.casting import deliver
from mindtorch.backends.cpu.strided import allocate

Array = np.ndarray

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
    return deliver(_laid_out(result, input, _by_stride(input, dim)), out)


def fft_r2c(input, dim, normalization, onesided, out=None):
    transform = np.fft.rfftn if onesided else np.fft.fftn
    result = transform(input, axes=dim, norm=_FORWARD[normalization])
    return deliver(_laid_out(result, input, [*_by_stride(input, dim[:-1]), dim[-1]]), out)


def fft_c2r(input, dim, normalization, last_dim_size, out=None):
    sizes = [input.shape[each] for each in dim[:-1]] + [last_dim_size]
    result = np.fft.irfftn(input, s=sizes, axes=dim, norm=_INVERSE[normalization])
    return deliver(_laid_out(result, input, [*_by_stride(input, dim[:-1]), dim[-1]]), out)


def _laid_out(result: Array, input: Array, dims: Sequence[int]) -> Array:
    """The result in torch's memory order: the transformed dimensions innermost."""
    others = [dim for dim in range(input.ndim) if dim not in dims]
    order = [*_by_stride(input, others), *dims]
    strides = geometry.strides_in_order(result.shape, order[::-1], result.itemsize)
    if result.strides == strides:
        return result
    copy = allocate(result.shape, strides, result.dtype)
    copy[...] = result
    return copy


def _by_stride(input: Array, dims: Sequence[int]) -> list[int]:
    """Dimensions as they lie in memory, outermost first."""
    return sorted(dims, key=lambda dim: -input.strides[dim])
