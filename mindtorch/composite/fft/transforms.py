"""What all Fourier transforms share: numbers of points, padding, dtypes and the names of normalizations."""

from __future__ import annotations

from mindtorch._core.dtype import bfloat16, float16, get_default_dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.backends import view_geometry
from mindtorch.dispatch import ops

# What the kernels divide by: nothing, the square root of the number of points, that number.
_PLAIN, _BY_ROOT, _BY_COUNT = 0, 1, 2
_FORWARD = {None: _PLAIN, "backward": _PLAIN, "ortho": _BY_ROOT, "forward": _BY_COUNT}
_INVERSE = {None: _BY_COUNT, "backward": _BY_COUNT, "ortho": _BY_ROOT, "forward": _PLAIN}


def normalization(norm: str | None, forward: bool) -> int:
    names = _FORWARD if forward else _INVERSE
    if norm not in names:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return names[norm]


def points_along(input: Tensor, n: int | None, dim: int) -> tuple[int, int]:
    dim = checked_dim(input, dim)
    points = input.size(dim) if n is None else n
    check_points(points)
    return dim, points


def checked_dim(input: Tensor, dim: int) -> int:
    return view_geometry.sized_dim(input._mt_array.shape, dim)


def check_points(points: int) -> None:
    if points < 1:
        raise RuntimeError(f"Invalid number of data points ({points}) specified")


def as_float(input: Tensor) -> Tensor:
    if input.dtype in (float16, bfloat16):
        raise RuntimeError(f"Unsupported dtype {input.dtype.storage_name}")
    return input if input.is_floating_point() else input.to(get_default_dtype())


def as_complex(input: Tensor) -> Tensor:
    return input if input.is_complex() else as_float(input).to(as_float(input).dtype.to_complex())


def resized(input: Tensor, dim: int, points: int) -> Tensor:
    """The input cut off or filled with zeros to `points` elements along a dimension."""
    extent = input.size(dim)
    if points <= extent:
        return input if points == extent else input.narrow(dim, 0, points)
    behind = input.ndim - 1 - dim % input.ndim
    return ops.constant_pad_nd(input, [0, 0] * behind + [0, points - extent])


def into(result: Tensor, out: Tensor) -> Tensor:
    """Row-major where memory is taken anew, which the transform itself is not."""
    return write_out(out, result if out.shape == result.shape else result.contiguous())


def into_complex(name: str, result: Tensor, out: Tensor) -> Tensor:
    if not out.is_complex():
        raise RuntimeError(f"{name} expects a complex output tensor, but got {out.dtype.storage_name}")
    return into(result, out)


def check_real(name: str, out: Tensor) -> None:
    if not out.is_floating_point():
        raise RuntimeError(f"{name} expects a floating point output tensor, but got {out.dtype.storage_name}")
