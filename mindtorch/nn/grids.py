"""Images sampled at the places that a grid names; `functional` exports it.

A place is a number from -1 to 1 for each dimension, the last dimension first.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product

from mindtorch.dispatch import ops
from mindtorch.dtype import bool as boolean
from mindtorch.dtype import int64
from mindtorch.tensor import Tensor

_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid that moves images of a size by affine matrices."""
    if align_corners is None:
        warnings.warn(_CHANGED, stacklevel=2)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. "
            f"Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    sides = [_evenly(theta, count, bool(align_corners)) for count in size[2:]]
    shapes = [[-1 if place == dim else 1 for place in range(dims)] for dim in range(dims)]
    axes = [side.reshape(shape).expand(tuple(size[2:])) for side, shape in zip(sides, shapes)]
    base = ops.stack([*reversed(axes), ops.ones_like(axes[0])], -1).reshape(1, -1, dims + 1)
    return (base.expand(size[0], -1, -1) @ theta.transpose(1, 2)).reshape(size[0], *size[2:], dims)


def _evenly(like: Tensor, count: int, align_corners: bool) -> Tensor:
    """`count` places from -1 to 1: with the ends, or in the middle of equal parts."""
    if count <= 1:
        return like.new_zeros(count)
    ends = ops.linspace(-1, 1, count, dtype=like.dtype)
    return ends if align_corners else ends * (count - 1) / count


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The elements of input at the places of a grid: the nearest ones, or weighted means of the neighbours."""
    for name, value, known in (
        ("mode", mode, ("bilinear", "nearest")),
        ("padding_mode", padding_mode, ("zeros", "border", "reflection")),
    ):
        if value not in known:
            *others, last = map(repr, known)
            listed = f"{', '.join(others)} or {last}"
            raise ValueError(f"nn.functional.grid_sample(): expected {name} to be {listed}, but got: {value!r}")
    if align_corners is None:
        warnings.warn(_CHANGED, stacklevel=2)
    _check_grid(input, grid)
    sizes = input.shape[2:]
    places = [
        _place(grid.select(-1, dim), size, padding_mode, bool(align_corners))
        for dim, size in zip(reversed(range(len(sizes))), sizes)
    ]
    if mode == "nearest":
        picked = _pick(input, [place.detach().round().to(int64) for place in places])
        return _flat_in(places, picked)
    return _between_neighbours(input, places)


def _check_grid(input: Tensor, grid: Tensor) -> None:
    dims = input.ndim - 2
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, "
            f"but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != dims:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {dims} in last dimension, "
            f"but got grid with sizes {list(grid.shape)}"
        )


def _place(coordinate: Tensor, size: int, padding_mode: str, align_corners: bool) -> Tensor:
    """A coordinate from -1 to 1 as a place among `size` elements, inside if the padding says so."""
    place = (coordinate + 1) / 2 * (size - 1) if align_corners else ((coordinate + 1) * size - 1) / 2
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        place = _reflected(place, 0.0 if align_corners else -0.5, size - 1 if align_corners else size)
    return place.clamp(0, size - 1)


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
    rows = flat.reshape(batch, 1, -1).expand(-1, channels, -1)
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
        weight = None
        for side, place, low in zip(corner, places, lows):
            share = place - low if side else low + 1 - place
            weight = share if weight is None else weight * share
        chosen = [(low + side).to(int64) for low, side in zip(lows, corner)]
        part = _pick(input, chosen) * weight.unsqueeze(1)
        total = part if total is None else total + part
    return total
