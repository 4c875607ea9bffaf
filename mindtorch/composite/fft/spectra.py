"""Fourier transforms along several dimensions, those of Hermitian signals, and the order of their frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch._core import geometry, state
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
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

Ints = Sequence[int]

# -------------------- along several dimensions --------------------


def fftn(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None) -> Tensor:
    return _complex_transform(input, *_extents(input, s, dim), norm, forward=True)


def ifftn(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None) -> Tensor:
    return _complex_transform(input, *_extents(input, s, dim), norm, forward=False)


def rfftn(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None) -> Tensor:
    if input.is_complex():
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {input.dtype.storage_name}")
    dims, sizes = _extents(input, s, dim)
    _check_any("rfftn", dims)
    return ops._fft_r2c(_resized_all(as_float(input), dims, sizes), dims, normalization(norm, True), True)


def irfftn(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None) -> Tensor:
    dims, sizes, points = _half_extents("irfftn", input, s, dim)
    return ops._fft_c2r(_resized_all(as_complex(input), dims, sizes), dims, normalization(norm, False), points)


def hfftn(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None) -> Tensor:
    """Of a signal that is Hermitian along its last dimension, of which half is given."""
    dims, sizes, points = _half_extents("hfftn", input, s, dim)
    half = _resized_all(as_complex(input), dims, sizes)
    divisor = normalization(norm, True)
    if dims[:-1]:
        half = ops._fft_c2c(half, dims[:-1], divisor, True)
    return ops._fft_c2r(half.conj(), dims[-1:], divisor, points)


def ihfftn(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None) -> Tensor:
    if input.is_complex():
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input.dtype.storage_name}")
    dims, sizes = _extents(input, s, dim)
    _check_any("ihfftn", dims)
    divisor = normalization(norm, False)
    half = ops._fft_r2c(_resized_all(as_float(input), dims, sizes), dims[-1:], divisor, True).conj()
    return ops._fft_c2c(half, dims[:-1], divisor, False) if dims[:-1] else half


def fftn_out(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None, out: Tensor) -> Tensor:
    return into_complex("fftn", fftn(input, s, dim, norm), out)


def ifftn_out(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None, out: Tensor) -> Tensor:
    return into_complex("fftn", ifftn(input, s, dim, norm), out)


def rfftn_out(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None, out: Tensor) -> Tensor:
    return into_complex("rfftn", rfftn(input, s, dim, norm), out)


def irfftn_out(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None, out: Tensor) -> Tensor:
    check_real("irfftn", out)
    return into(irfftn(input, s, dim, norm), out)


def hfftn_out(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None, out: Tensor) -> Tensor:
    check_real("hfftn", out)
    return into(hfftn(input, s, dim, norm), out)


def ihfftn_out(input: Tensor, s: tuple[int, ...] | None, dim: Any, norm: str | None, out: Tensor) -> Tensor:
    result = ihfftn(input, s, dim, norm)
    if len(_extents(input, s, dim)[0]) > 1:
        return into_complex("ihfftn", result, out)
    if out.dtype is not result.dtype:
        raise RuntimeError(f"Found dtype {result.dtype.storage_name} but expected {out.dtype.storage_name}")
    return into(result, out)


def _complex_transform(input: Tensor, dims: Ints, sizes: Ints, norm: str | None, forward: bool) -> Tensor:
    spectrum = _resized_all(as_complex(input), dims, sizes)
    return ops._fft_c2c(spectrum, dims, normalization(norm, forward), forward)


def _extents(input: Tensor, s: Ints | None, dim: Ints | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions to transform and how many points each has; a size of -1 is that of the input."""
    dims = None if dim is None else tuple(checked_dim(input, each) for each in dim)
    if dims is not None and len(set(dims)) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    if s is not None:
        dims = _last_dims(input, s, dims)
    elif dims is None:
        dims = tuple(range(input.ndim))
    own = [input.size(each) for each in dims]
    sizes = tuple(own if s is None else [size if points == -1 else points for points, size in zip(s, own)])
    for points in sizes:
        check_points(points)
    return dims, sizes


def _last_dims(input: Tensor, s: Ints, dims: tuple[int, ...] | None) -> tuple[int, ...]:
    """The dimensions that sizes are meant for: the last ones, if nothing else is said."""
    if dims is not None and len(dims) != len(s):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if len(s) > input.ndim:
        raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {input.ndim} dimensions.")
    return tuple(range(input.ndim - len(s), input.ndim)) if dims is None else dims


def _half_extents(
    name: str, input: Tensor, s: Ints | None, dim: Ints | None
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """The same where half a spectrum is given, and the number of points of the whole one."""
    dims, sizes = _extents(input, s, dim)
    _check_any(name, dims)
    points = 2 * (input.size(dims[-1]) - 1) if s is None or s[-1] == -1 else s[-1]
    check_points(points)
    return dims, (*sizes[:-1], points // 2 + 1), points


def _resized_all(input: Tensor, dims: Ints, sizes: Ints) -> Tensor:
    for dim, points in zip(dims, sizes):
        input = resized(input, dim, points)
    return input


def _check_any(name: str, dims: Ints) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


# -------------------- of Hermitian signals --------------------


def hfft(input: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """The real spectrum of a signal of which half is given, for the other half is its conjugate."""
    signal = as_complex(input)
    dim = checked_dim(signal, dim)
    points = 2 * (signal.size(dim) - 1) if n is None else n
    check_points(points)
    half = resized(signal, dim, points // 2 + 1)
    return ops._fft_c2r(half.conj(), (dim,), normalization(norm, True), points)


def ihfft(input: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    if input.is_complex():
        raise RuntimeError(f"ihfft expects a real input tensor, but got {input.dtype.storage_name}")
    signal = as_float(input)
    dim, points = points_along(signal, n, dim)
    return ops._fft_r2c(resized(signal, dim, points), (dim,), normalization(norm, False), True).conj()


def hfft_out(input: Tensor, n: int | None, dim: int, norm: str | None, out: Tensor) -> Tensor:
    check_real("hfft", out)
    return into(hfft(input, n, dim, norm), out)


def ihfft_out(input: Tensor, n: int | None, dim: int, norm: str | None, out: Tensor) -> Tensor:
    return into_complex("ihfft", ihfft(input, n, dim, norm), out)


# -------------------- the order of frequencies --------------------


def fftshift(input: Tensor, dim: tuple[int, ...] | None) -> Tensor:
    """The frequency 0 in the middle."""
    dims = _shifted_dims(input, dim)
    return input.roll([input.size(each) // 2 for each in dims], dims)


def ifftshift(input: Tensor, dim: tuple[int, ...] | None) -> Tensor:
    dims = _shifted_dims(input, dim)
    return input.roll([(input.size(each) + 1) // 2 for each in dims], dims)


def _shifted_dims(input: Tensor, dim: Ints | None) -> list[int]:
    return list(range(input.ndim)) if dim is None else [checked_dim(input, each) for each in dim]


def fftfreq(
    n: int, d: float = 1.0, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    """Cycles per unit of the sample spacing `d`, in the order of the transform: positive ones, then negative ones."""
    geometry.check_sizes((n,))
    _check_inexact("fftfreq", dtype)
    places = ops.arange(n, dtype=dtype or state.default_dtype, layout=layout, device=device, pin_memory=pin_memory)
    places[(n + 1) // 2 :] -= n
    return places * _over(n * d)


def rfftfreq(
    n: int, d: float = 1.0, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    """The positive ones."""
    count = int(n / 2) + 1
    geometry.check_sizes((count,))
    _check_inexact("rfftfreq", dtype)
    dtype = dtype or state.default_dtype
    places = ops.arange(count, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    return places * _over(n * d)


def fftfreq_out(n: int, d: float, out: Tensor) -> Tensor:
    return write_out(out, fftfreq(n, d, dtype=out.dtype, device=out.device))


def rfftfreq_out(n: int, d: float, out: Tensor) -> Tensor:
    return write_out(out, rfftfreq(n, d, dtype=out.dtype, device=out.device))


def _check_inexact(name: str, dtype: Dtype | None) -> None:
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")


def _over(span: float) -> float:
    return 1.0 / span if span else math.inf
