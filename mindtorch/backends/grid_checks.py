"""What `grid_sampler_2d` and `grid_sampler_3d` ask of an image and a grid, on every backend."""

from typing import Any

BILINEAR, NEAREST, BICUBIC = 0, 1, 2


def check_modes(interpolation: int, padding: int) -> None:
    """torch leaves the result of a mode that there is not as it finds it in memory."""
    if interpolation not in (0, 1, BICUBIC) or padding not in (0, 1, 2):
        raise RuntimeError(f"grid_sampler(): there is no interpolation mode {interpolation} or padding mode {padding}")


def check_grid(input: Any, grid: Any, ndim: int, mode: int) -> None:
    """torch's errors for what an op that samples images of `ndim` dimensions cannot take."""
    if not (input.ndim and grid.ndim):
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
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
    if input.ndim != ndim or grid.ndim != ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {ndim}D input and grid with same number of dimensions, but {given}"
        )
    if ndim == 5 and mode == BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
