"""Images sampled at the places that a grid names, and the grids of affine maps.

A place is a number from -1 to 1 for each dimension, the last dimension first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product

from mindtorch.dispatch import ops
from mindtorch.dtype import bool as boolean
from mindtorch.dtype import int64
from mindtorch.tensor import Tensor

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2

_SHARPNESS = -0.75  # of the cubic convolution


# -------------------- grids --------------------


def affine_grid_generator(theta, size, align_corners):
    """The grid that moves images of a size by affine matrices."""
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    dims = len(size) - 2
    sides = [_evenly(theta, count, align_corners) for count in size[2:]]
    shapes = [[-1 if place == dim else 1 for place in range(dims)] for dim in range(dims)]
    axes = [side.reshape(shape).expand(tuple(size[2:])) for side, shape in zip(sides, shapes)]
    base = ops.stack([*reversed(axes), ops.ones_like(axes[0])], -1).reshape(1, -1, dims + 1)
    places = base.expand(size[0], -1, -1) @ theta.transpose(1, 2)
    return ops._unsafe_view(places, (size[0], *size[2:], dims))


def _evenly(like: Tensor, count: int, align_corners: bool) -> Tensor:
    """`count` places from -1 to 1: with the ends, or in the middle of equal parts."""
    if count <= 1:
        return like.new_zeros(count)
    ends = ops.linspace(-1, 1, count, dtype=like.dtype)
    return ends if align_corners else (ends * (count - 1) / count).to(like.dtype)


# -------------------- sampling --------------------


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    _check(input, grid, interpolation_mode)
    sampler = ops.grid_sampler_2d if input.ndim == 4 else ops.grid_sampler_3d
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    return _sampled("grid_sampler_2d_cpu_kernel_impl", input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners):
    return _sampled("grid_sampler3d_cpu", input, grid, interpolation_mode, padding_mode, align_corners)


def _check(input: Tensor, grid: Tensor, mode: int) -> None:
    given = f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but {given}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, "
            f"but got grid with sizes {list(grid.shape)}"
        )
    for dim, size in list(enumerate(input.shape))[2:]:
        if size <= 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, "
                f"but input has sizes {list(input.shape)} with dimension {dim} being empty"
            )
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {5 if input.ndim == 5 else 4}D input and grid with same number of dimensions, "
            f"but {given}"
        )
    if input.ndim == 5 and mode == BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _sampled(kernel: str, input: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    if not input.is_floating_point():
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.storage_name}'")
    if input.dtype is not grid.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.storage_name} but found {grid.dtype.storage_name}")
    sizes = input.shape[2:]
    places = [
        _place(grid.select(-1, dim), size, align_corners) for dim, size in zip(reversed(range(len(sizes))), sizes)
    ]
    if mode == BICUBIC:
        return _by_cubics(input, places, padding, align_corners)
    places = [_padded(place, size, padding, align_corners) for place, size in zip(places, sizes)]
    if mode == NEAREST:
        picked = _pick(input, [place.detach().round().to(int64) for place in places])
        return _flat_in(places, picked)
    return _between_neighbours(input, places)


def _place(coordinate: Tensor, size: int, align_corners: bool) -> Tensor:
    """A coordinate from -1 to 1 as a place among `size` elements."""
    return (coordinate + 1) / 2 * (size - 1) if align_corners else ((coordinate + 1) * size - 1) / 2


def _padded(place: Tensor, size: int, padding: int, align_corners: bool) -> Tensor:
    """The place, moved inside if the padding says so. At the edges it counts as moved: there it has no gradient."""
    if padding == ZEROS:
        return place
    if padding == REFLECTION:
        place = _reflected(place, 0.0 if align_corners else -0.5, size - 1 if align_corners else size)
    inside = (place > 0) & (place < size - 1)
    return ops.where(inside, place, place.detach().clamp(0, size - 1))


def _reflected(place: Tensor, low: float, span: float) -> Tensor:
    """A place thrown back from both ends of a span until it lies in it."""
    if span == 0:
        return ops.zeros_like(place)
    distance = (place - low).abs()
    turns = (distance.detach() / span).floor()
    rest = distance - turns * span
    return ops.where(turns % 2 == 0, rest + low, span - rest + low)


def _pick(input: Tensor, places: Sequence[Tensor]) -> Tensor:
    """The elements at whole places; zero for those outside."""
    inside = flat = None
    for place, size in zip(places, input.shape[2:]):
        within = (place >= 0) & (place < size)
        index = place.clamp(0, size - 1)
        inside = within if inside is None else inside & within
        flat = index if flat is None else flat * size + index
    batch, channels = input.shape[:2]
    rows = flat.reshape(batch, 1, flat[0].numel()).expand(-1, channels, -1)
    picked = input.reshape(batch, channels, -1).gather(2, rows).reshape(batch, channels, *flat.shape[1:])
    return picked.masked_fill(~inside.unsqueeze(1), 0)


def _flat_in(places: Sequence[Tensor], picked: Tensor) -> Tensor:
    """What was picked, with a gradient of zero for the grid, as torch has it, instead of none."""
    link = ops.stack(list(places), 0).sum(0).unsqueeze(1)
    return ops.where(ops.zeros_like(link, dtype=boolean), link, picked)


def _between_neighbours(input: Tensor, places: Sequence[Tensor]) -> Tensor:
    lows = [place.detach().floor() for place in places]
    total = None
    for corner in product((0, 1), repeat=len(places)):
        shares = [place - low if side else low + 1 - place for side, place, low in zip(corner, places, lows)]
        chosen = [(low + side).to(int64) for low, side in zip(lows, corner)]
        part = _pick(input, chosen) * reduce(ops.mul, shares).unsqueeze(1)
        total = part if total is None else total + part
    return total


def _by_cubics(input: Tensor, places: Sequence[Tensor], padding: int, align_corners: bool) -> Tensor:
    """Of four neighbours in each dimension, which are moved inside one by one."""
    lows = [place.detach().floor() for place in places]
    weights = [_cubic_weights(place - low) for place, low in zip(places, lows)]
    total = None
    for steps in product(range(4), repeat=len(places)):
        chosen = [
            _padded(low + step - 1, size, padding, align_corners).to(int64)
            for low, step, size in zip(lows, steps, input.shape[2:])
        ]
        share = reduce(ops.mul, [each[step] for each, step in zip(weights, steps)])
        part = _pick(input, chosen) * share.unsqueeze(1)
        total = part if total is None else total + part
    return total


def _cubic_weights(share: Tensor) -> list[Tensor]:
    """Of the neighbours before, at, behind, and one further behind a place."""
    rest = 1 - share
    return [_far_weight(share + 1), _near_weight(share), _near_weight(rest), _far_weight(rest + 1)]


def _near_weight(distance: Tensor) -> Tensor:
    a = _SHARPNESS
    return ((a + 2) * distance - (a + 3)) * distance * distance + 1


def _far_weight(distance: Tensor) -> Tensor:
    a = _SHARPNESS
    return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
