"""Integrals by the trapezoid rule, and gradients by finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch._core import geometry
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import uint8
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

# -------------------- trapezoids --------------------


def trapezoid_dx(y: Tensor, dx: float = 1, dim: int = -1) -> Tensor:
    if not y.size(dim):
        return _without_dim(y, dim)
    if y.dtype is boolean:
        raise RuntimeError("trapezoid: received a bool input for `y`, but bool is not supported")
    _check_step("trapezoid", dx)
    ends = ops.mul_Scalar(y.select(dim, 0) + y.select(dim, -1), 0.5)
    return ops.mul_Scalar(y.sum(dim) - ends, dx)


def _check_step(name: str, dx: complex) -> None:
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def trapezoid_x(y: Tensor, x: Tensor, dim: int = -1) -> Tensor:
    if not y.size(dim):
        return _without_dim(y, dim)
    widths = _widths("trapezoid", y, x, dim)
    return ops.div_Scalar(((_left(y, dim) + _right(y, dim)) * widths).sum(dim), 2)


def cumulative_trapezoid_dx(y: Tensor, dx: float = 1, dim: int = -1) -> Tensor:
    if y.dtype is boolean:
        raise RuntimeError("cumulative_trapezoid: received a bool input for `y`, but bool is not supported")
    if not y.size(dim):
        return y / 2.0
    _check_step("cumulative_trapezoid", dx)
    return ops.mul_Scalar(_left(y, dim) + _right(y, dim), dx / 2.0).cumsum(dim)


def cumulative_trapezoid_x(y: Tensor, x: Tensor, dim: int = -1) -> Tensor:
    if not y.size(dim) and boolean not in (x.dtype, y.dtype):
        return y / 2.0
    widths = _widths("cumulative_trapezoid", y, x, dim)
    return ops.div_Scalar(((_left(y, dim) + _right(y, dim)) * widths).cumsum(dim), 2.0)


def _without_dim(y: Tensor, dim: int) -> Tensor:
    sizes = [size for place, size in enumerate(y.shape) if place != dim % y.ndim]
    return ops.zeros(sizes, dtype=y.dtype, device=y.device)


def _left(tensor: Tensor, dim: int) -> Tensor:
    return tensor.narrow(dim, 0, tensor.size(dim) - 1)


def _right(tensor: Tensor, dim: int) -> Tensor:
    return tensor.narrow(dim, 1, tensor.size(dim) - 1)


def _widths(op: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """The distances of the points, in as many dimensions as there are values."""
    if boolean in (y.dtype, x.dtype):
        raise RuntimeError(f"{op}: received a bool input for `x` or `y`, but bool is not supported")
    along = geometry.wrap_dim(dim, y.ndim)
    if x.ndim == 1:
        if x.size(0) != y.size(dim):
            raise RuntimeError(f"{op}: There must be one `x` value for each sample point")
        x = x.view([-1 if place == along else 1 for place in range(y.ndim)])
    elif x.ndim < y.ndim:
        x = x.view([1] * (y.ndim - x.ndim) + list(x.shape))
    return _right(x, along) - _left(x, along)


# -------------------- gradients --------------------


def gradient_scalar(
    input: Tensor, spacing: float | None = None, dim: int | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    dims = range(input.ndim) if dim is None else [dim]
    return _gradient(input, [1 if spacing is None else spacing] * len(dims), dims, edge_order)


def gradient_scalar_dims(input: Tensor, spacing: float, dim: Sequence[int], edge_order: int = 1) -> tuple[Tensor, ...]:
    return _gradient(input, [spacing] * len(dim), dim, edge_order)


def gradient_unit_dims(input: Tensor, dim: Sequence[int], edge_order: int = 1) -> tuple[Tensor, ...]:
    return _gradient(input, [1] * len(dim), dim, edge_order)


def gradient_of_steps(
    input: Tensor, spacing: Sequence[float], dim: int | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    dims = range(input.ndim) if dim is None else [dim]
    _check_spacing(input, spacing, dim)
    return _gradient(input, spacing, dims, edge_order)


def gradient_of_steps_dims(
    input: Tensor, spacing: Sequence[float], dim: Sequence[int], edge_order: int = 1
) -> tuple[Tensor, ...]:
    _check_as_many(spacing, dim)
    return _gradient(input, spacing, dim, edge_order)


def gradient_of_points(
    input: Tensor, spacing: Sequence[Tensor], dim: int | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    dims = range(input.ndim) if dim is None else [dim]
    _check_spacing(input, spacing, dim)
    _check_devices(input, spacing)
    return _gradient(input, spacing, dims, edge_order)


def gradient_of_points_dims(
    input: Tensor, spacing: Sequence[Tensor], dim: Sequence[int], edge_order: int = 1
) -> tuple[Tensor, ...]:
    _check_as_many(spacing, dim)
    _check_devices(input, spacing)
    return _gradient(input, spacing, dim, edge_order)


def _check_devices(input: Tensor, spacing: Sequence[Tensor]) -> None:
    other = next((each.device for each in spacing if each.device != input.device), None)
    if other is not None:
        raise RuntimeError(
            f"torch.gradient expected each tensor to be on the same device, but got devices {input.device} and {other}!"
        )


def _check_spacing(input: Tensor, spacing: Sequence[Any], dim: int | None) -> None:
    if dim is not None:
        _check_as_many(spacing, [dim])
    elif len(spacing) != input.ndim:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{input.ndim}', since dim argument was not given, but got a list of length {len(spacing)}"
        )


def _check_as_many(spacing: Sequence[Any], dim: Sequence[int]) -> None:
    if len(spacing) != len(dim):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(spacing)} and a dim argument of length {len(dim)}."
        )


def _gradient(input: Tensor, spacing: Sequence[Any], dims: Sequence[int], edge_order: int) -> tuple[Tensor, ...]:
    if input.dtype is uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    wrapped = geometry.wrap_dims(dims, input.ndim)
    for dim in wrapped:
        if input.size(dim) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    slopes = [
        (_slope_at_points if isinstance(step, Tensor) else _slope)(input, step, dim, edge_order)
        for step, dim in zip(spacing, wrapped, strict=True)
    ]
    return tuple(slopes)


def _slope(input: Tensor, step: float, dim: int, edge_order: int) -> Tensor:
    """Differences of equally wide steps: central ones inside, one-sided ones at the ends."""
    count = input.size(dim)

    def at(place: int) -> Tensor:
        return input.narrow(dim, place % count, 1)

    inside = (input.narrow(dim, 2, count - 2) - input.narrow(dim, 0, count - 2)) / (2 * step) if count > 2 else None
    if edge_order == 1:
        first, last = (at(1) - at(0)) / step, (at(-1) - at(-2)) / step
    else:
        first = (-1.5 * at(0) + 2 * at(1) - 0.5 * at(2)) / step
        last = (0.5 * at(-3) - 2 * at(-2) + 1.5 * at(-1)) / step
    return ops.cat([part for part in (first, inside, last) if part is not None], dim)


def _slope_at_points(input: Tensor, points: Tensor, dim: int, edge_order: int) -> Tensor:
    """Differences of steps that differ: the slope of the parabola through three neighbours."""
    if points.ndim != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{points.ndim} dimensions!"
        )
    shape = [-1 if place == dim else 1 for place in range(input.ndim)]
    steps = points.diff()
    before, after = steps[:-1].view(shape), steps[1:].view(shape)
    count = input.size(dim)
    low, here, high = (input.narrow(dim, start, count - 2) for start in range(3))
    inside = (
        -after / (before * (before + after)) * low
        + (after - before) / (before * after) * here
        + before / (after * (before + after)) * high
    )
    ends = [_end_slope(input, steps, dim, edge_order, is_last) for is_last in (False, True)]
    return ops.cat([ends[0], inside, ends[1]], dim)


def _end_slope(input: Tensor, steps: Tensor, dim: int, edge_order: int, is_last: bool) -> Tensor:
    count = input.size(dim)
    places = [count - 1, count - 2, count - 3] if is_last else [0, 1, 2]
    sign = -1 if is_last else 1
    near = steps[-1] if is_last else steps[0]
    values = [input.narrow(dim, place, 1) for place in places[: edge_order + 1]]
    if edge_order == 1:
        return sign * (values[1] - values[0]) / near
    far = steps[-2] if is_last else steps[1]
    total = near + far
    return sign * (
        -(near + total) / (near * total) * values[0]
        + total / (near * far) * values[1]
        - near / (far * total) * values[2]
    )
