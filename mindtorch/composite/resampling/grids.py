"""Images sampled at the places that a grid names, and the grids of affine maps.

A place is a number from -1 to 1 for each dimension, the last dimension first.
"""

from __future__ import annotations

from mindtorch._core import geometry
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

# -------------------- grids --------------------


def affine_grid_generator(theta: Tensor, size: tuple[int, ...], align_corners: bool) -> Tensor:
    """The grid that moves images of a size by affine matrices."""
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    dims = len(size) - 2
    geometry.check_sizes((size[0], *size[2:], dims + 1))
    sides = [_evenly(theta, count, align_corners) for count in size[2:]]
    shapes = [[-1 if place == dim else 1 for place in range(dims)] for dim in range(dims)]
    axes = [side.reshape(shape).expand(tuple(size[2:])) for side, shape in zip(sides, shapes)]
    base = ops.stack([*reversed(axes), ops.ones_like(axes[0])], -1).reshape(1, -1, dims + 1)
    places = ops.bmm(base.expand(size[0], -1, -1), theta.transpose(1, 2))
    return ops._unsafe_view(places, (size[0], *size[2:], dims))


def _evenly(like: Tensor, count: int, align_corners: bool) -> Tensor:
    """`count` places from -1 to 1: with the ends, or in the middle of equal parts."""
    if count <= 1:
        return like.new_zeros(count)
    ends = ops.linspace(-1, 1, count, dtype=like.dtype, device=like.device)
    return ends if align_corners else (ends * (count - 1) / count).to(like.dtype)


# -------------------- sampling --------------------


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    sampler = ops.grid_sampler_2d if input.ndim == 4 else ops.grid_sampler_3d
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)
