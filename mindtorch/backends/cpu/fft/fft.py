"""Fourier transforms by SciPy, whose loops take several rows at once."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from scipy import fft as scipy_fft

from mindtorch._core import geometry
from mindtorch._core.strided import allocate
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.casting import deliver
from mindtorch.backends.cpu.common.checks import scalar_name

Array = np.ndarray

# SciPy's names for what a transform is divided by (nothing, the root of the count, the count), by direction.
_FORWARD = ("backward", "ortho", "forward")
_INVERSE = ("forward", "ortho", "backward")


def fft_c2c(input, dim, normalization, forward, out=None):
    _check_kind(input, "c", "complex")
    geometry.check_transformed_dims(input.shape, dim)
    if not dim:
        return deliver(input.copy("K"), out)
    if forward:
        result = quiet(_along, scipy_fft.fft, input, dim[::-1], _FORWARD[normalization])
    else:
        result = quiet(_along, scipy_fft.ifft, input, dim[::-1], _INVERSE[normalization])
    return _delivered(result, input, dim, None, out)


def fft_r2c(input, dim, normalization, onesided, out=None):
    _check_kind(input, "fV", "floating-point")
    geometry.check_transformed_dims(input.shape, dim)
    if input.dtype not in (np.float32, np.float64):
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {scalar_name(input)}")
    _check_last(dim)
    norm = _FORWARD[normalization]
    result = quiet(scipy_fft.rfft if onesided else scipy_fft.fft, input, None, dim[-1], norm)
    result = quiet(_along, scipy_fft.fft, result, dim[-2::-1], norm)
    return _delivered(result, input, dim, dim[-1], out)


def fft_c2r(input, dim, normalization, last_dim_size, out=None):
    _check_kind(input, "c", "complex")
    geometry.check_transformed_dims(input.shape, dim)
    _check_last(dim)
    geometry.check_sizes((*input.shape[: dim[-1]], last_dim_size, *input.shape[dim[-1] + 1 :]))
    norm = _INVERSE[normalization]
    result = quiet(_along, scipy_fft.ifft, input, dim[:-1], norm)
    result = quiet(scipy_fft.irfft, result, last_dim_size, dim[-1], norm)
    return _delivered(result, input, dim, dim[-1], out)


def _along(transform: Callable[..., Array], array: Array, dims: Sequence[int], norm: str) -> Array:
    """One dimension after the other, as SciPy's functions for several do, which take longer to begin."""
    for dim in dims:
        array = transform(array, None, dim, norm)
    return array


def _check_last(dims: Sequence[int]) -> None:
    if not dims:
        raise RuntimeError("ArrayRef: attempted to access back() of empty list")


def _check_kind(input: Array, kinds: str, wanted: str) -> None:
    if input.dtype.kind not in kinds:
        raise RuntimeError(f"Only supports {wanted} dtypes, but found: {scalar_name(input)}")


def _delivered(result: Array, input: Array, dims: Sequence[int], last: int | None, out: Array | None) -> Array:
    """The result in torch's memory order; an `out` that takes on its shape gets it row by row."""
    strides = _transformed_strides(result.shape, input.strides, tuple(dims), last, result.itemsize)
    if out is not None or result.strides == strides:
        return deliver(np.ascontiguousarray(result) if out is not None else result, out)
    copy = allocate(result.shape, strides, result.dtype)
    copy[...] = result
    return copy


_transformed_strides = lru_cache(maxsize=1024)(geometry.transformed_strides)
