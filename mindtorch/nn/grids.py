"""Images sampled at the places that a grid names; `functional` exports it."""

from __future__ import annotations

from collections.abc import Container, Sequence

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops

_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)
_ONE_ELEMENT = (
    "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an "
    "intended use case of affine_grid. See the documentation of affine_grid for details."
)
_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid that moves images of a size by affine matrices."""
    if align_corners is None:
        warn(_CHANGED)
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
    if align_corners and min(size[2:]) == 1:
        warn(_ONE_ELEMENT)
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return ops.affine_grid_generator(theta, tuple(size), bool(align_corners))


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The elements of input at the places of a grid: the nearest ones, or weighted means of the neighbours."""
    _check_known("mode", mode, _MODES, "'bilinear', 'nearest' or 'bicubic'")
    _check_known("padding_mode", padding_mode, _PADDINGS, "'zeros', 'border', or 'reflection'")
    if align_corners is None:
        warn(_CHANGED)
    return ops.grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], bool(align_corners))


def _check_known(name: str, value: str, known: Container[str], listed: str) -> None:
    if value not in known:
        raise ValueError(f"nn.functional.grid_sample(): expected {name} to be {listed}, but got: '{value}'")
