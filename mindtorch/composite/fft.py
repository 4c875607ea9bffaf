"""Discrete Fourier transforms along one dimension: padding, defaults and the names of normalizations."""

from mindtorch.autograd.outputs import write_out
from mindtorch.backends import view_geometry
from mindtorch.dispatch import ops
from mindtorch.dtype import bfloat16, float16, get_default_dtype
from mindtorch.tensor import Tensor

# What the kernels divide by: nothing, the square root of the number of points, that number.
_PLAIN, _BY_ROOT, _BY_COUNT = 0, 1, 2
_FORWARD = {None: _PLAIN, "backward": _PLAIN, "ortho": _BY_ROOT, "forward": _BY_COUNT}
_INVERSE = {None: _BY_COUNT, "backward": _BY_COUNT, "ortho": _BY_ROOT, "forward": _PLAIN}


def fft(input, n, dim, norm):
    return _complex_transform(input, n, dim, norm, forward=True)


def ifft(input, n, dim, norm):
    return _complex_transform(input, n, dim, norm, forward=False)


def rfft(input, n, dim, norm):
    if input.is_complex():
        raise RuntimeError(f"rfft expects a real input tensor, but got {input.dtype.storage_name}")
    dim, points = _points(input, n, dim)
    return ops._fft_r2c(_resized(_as_float(input), dim, points), (dim,), _normalization(norm, True), True)


def irfft(input, n, dim, norm):
    dim = _checked_dim(input, dim)
    points = 2 * (input.size(dim) - 1) if n is None else n
    _check_points(points)
    spectrum = _resized(_as_complex(input), dim, points // 2 + 1)
    return ops._fft_c2r(spectrum, (dim,), _normalization(norm, False), points)


def fft_out(input, n, dim, norm, out):
    return _written("fft", fft(input, n, dim, norm), out)


def ifft_out(input, n, dim, norm, out):
    return _written("ifft", ifft(input, n, dim, norm), out)


def rfft_out(input, n, dim, norm, out):
    return _written("rfft", rfft(input, n, dim, norm), out)


def irfft_out(input, n, dim, norm, out):
    """Row-major, which the transform itself is not."""
    return write_out(out, irfft(input, n, dim, norm).contiguous())


def _written(name: str, result: Tensor, out: Tensor) -> Tensor:
    if not out.is_complex():
        raise RuntimeError(f"{name} expects a complex output tensor, but got {out.dtype.storage_name}")
    return write_out(out, result)


def _complex_transform(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    dim, points = _points(input, n, dim)
    normalization = _normalization(norm, forward)
    if input.is_complex():
        return ops._fft_c2c(_resized(input, dim, points), (dim,), normalization, forward)
    spectrum = ops._fft_r2c(_resized(_as_float(input), dim, points), (dim,), normalization, False)
    return spectrum if forward else spectrum.conj()


def _normalization(norm: str | None, forward: bool) -> int:
    names = _FORWARD if forward else _INVERSE
    if norm not in names:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return names[norm]


def _points(input: Tensor, n: int | None, dim: int) -> tuple[int, int]:
    dim = _checked_dim(input, dim)
    points = input.size(dim) if n is None else n
    _check_points(points)
    return dim, points


def _checked_dim(input: Tensor, dim: int) -> int:
    return view_geometry.unbind_dim(input._array.shape, dim)


def _check_points(points: int) -> None:
    if points < 1:
        raise RuntimeError(f"Invalid number of data points ({points}) specified")


def _as_float(input: Tensor) -> Tensor:
    if input.dtype in (float16, bfloat16):
        raise RuntimeError(f"Unsupported dtype {input.dtype.storage_name}")
    return input if input.is_floating_point() else input.to(get_default_dtype())


def _as_complex(input: Tensor) -> Tensor:
    return input if input.is_complex() else _as_float(input).to(_as_float(input).dtype.to_complex())


def _resized(input: Tensor, dim: int, points: int) -> Tensor:
    """The input cut off or filled with zeros to `points` elements along a dimension."""
    extent = input.size(dim)
    if points <= extent:
        return input if points == extent else input.narrow(dim, 0, points)
    shape = list(input._array.shape)
    shape[dim] = points - extent
    return ops.cat([input, input.new_zeros(tuple(shape))], dim)
