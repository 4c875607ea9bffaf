"""Discrete Fourier transforms along one dimension; those along several are in spectra.py."""

from mindtorch._core.tensor import Tensor
from mindtorch.composite.fft.transforms import (
    as_complex,
    as_float,
    check_points,
    check_real,
    checked_dim,
    into,
    into_complex,
    normalization,
    points_along,
    resized,
)
from mindtorch.dispatch import ops


def fft(input: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    return _complex_transform(input, n, dim, norm, forward=True)


def ifft(input: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    return _complex_transform(input, n, dim, norm, forward=False)


def rfft(input: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    if input.is_complex():
        raise RuntimeError(f"rfft expects a real input tensor, but got {input.dtype.storage_name}")
    signal = as_float(input)
    dim, points = points_along(signal, n, dim)
    return ops._fft_r2c(resized(signal, dim, points), (dim,), normalization(norm, True), True)


def irfft(input: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    spectrum = as_complex(input)
    dim = checked_dim(spectrum, dim)
    points = 2 * (spectrum.size(dim) - 1) if n is None else n
    check_points(points)
    spectrum = resized(spectrum, dim, points // 2 + 1)
    return ops._fft_c2r(spectrum, (dim,), normalization(norm, False), points)


def fft_out(input: Tensor, n: int | None, dim: int, norm: str | None, out: Tensor) -> Tensor:
    return into_complex("fft", fft(input, n, dim, norm), out)


def ifft_out(input: Tensor, n: int | None, dim: int, norm: str | None, out: Tensor) -> Tensor:
    return into_complex("ifft", ifft(input, n, dim, norm), out)


def rfft_out(input: Tensor, n: int | None, dim: int, norm: str | None, out: Tensor) -> Tensor:
    return into_complex("rfft", rfft(input, n, dim, norm), out)


def irfft_out(input: Tensor, n: int | None, dim: int, norm: str | None, out: Tensor) -> Tensor:
    check_real("irfft", out)
    return into(irfft(input, n, dim, norm), out)


def _complex_transform(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    signal = input if input.is_complex() else as_float(input)
    dim, points = points_along(signal, n, dim)
    divisor = normalization(norm, forward)
    if signal.is_complex():
        return ops._fft_c2c(resized(signal, dim, points), (dim,), divisor, forward)
    spectrum = ops._fft_r2c(resized(signal, dim, points), (dim,), divisor, False)
    return spectrum if forward else spectrum.conj()
