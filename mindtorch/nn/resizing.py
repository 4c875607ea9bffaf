"""`interpolate`: which op resizes an input, and to which size. `functional` exports it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops

_WITHOUT_CORNERS = ("nearest", "area", "nearest-exact")
# The op by mode and number of dimensions of the input, batch and channels included.
_OPS: dict[tuple[str, int], Callable] = {
    ("nearest", 3): ops.upsample_nearest1d,
    ("nearest", 4): ops.upsample_nearest2d,
    ("nearest", 5): ops.upsample_nearest3d,
    ("nearest-exact", 3): ops._upsample_nearest_exact1d,
    ("nearest-exact", 4): ops._upsample_nearest_exact2d,
    ("nearest-exact", 5): ops._upsample_nearest_exact3d,
    ("linear", 3): ops.upsample_linear1d,
    ("bilinear", 4): ops.upsample_bilinear2d,
    ("bicubic", 4): ops.upsample_bicubic2d,
    ("trilinear", 5): ops.upsample_trilinear3d,
}
_ANTIALIASED = {
    "bilinear": ops._upsample_bilinear2d_aa,
    "bicubic": ops._upsample_bicubic2d_aa,
    "lanczos": ops._upsample_lanczos2d_aa,
}
_AREA = {3: ops.adaptive_avg_pool1d, 4: ops.adaptive_avg_pool2d, 5: ops.adaptive_avg_pool3d}


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """input resized, to a size or by a factor."""
    if mode in _WITHOUT_CORNERS and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the "
            "interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    sizes, scales = _sizes_and_scales(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if scales is not None and (recompute_scale_factor or mode == "area"):
        sizes, scales = [int(n * scale) for n, scale in zip(input.shape[2:], scales)], None
    if antialias and not (mode in _ANTIALIASED and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and input.ndim == 4 and (align_corners or not antialias):
        reason = "does not support align_corners=True" if align_corners else "requires antialias=True"
        raise ValueError(f"Lanczos mode {reason}")
    if mode == "area" and input.ndim in _AREA:
        assert sizes is not None  # a factor has been made a size
        return _AREA[input.ndim](input, sizes)
    resize = _ANTIALIASED[mode] if antialias else _op_for(input, mode)
    if sizes is None:
        assert scales is not None  # there is one of the two
        sizes = [math.floor(float(n) * scale) for n, scale in zip(input.shape[2:], scales)]
    corners = () if mode in _WITHOUT_CORNERS else (bool(align_corners),)
    factors: Sequence[float | None] = scales or [None] * len(sizes)
    return resize(input, sizes, *corners, *factors)


def _op_for(input: Tensor, mode: str) -> Callable:
    if (mode, input.ndim) in _OPS:
        return _OPS[mode, input.ndim]
    wanted = next((ndim for known, ndim in _OPS if known == mode and mode not in _WITHOUT_CORNERS), None)
    if wanted is not None and input.ndim in (3, 4, 5):
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {wanted}D input")
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported "
        f"(got {input.ndim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area "
        f"| nearest-exact (got {mode})"
    )


def _sizes_and_scales(
    input: Tensor, size: Any, scale_factor: Any
) -> tuple[Sequence[int] | None, Sequence[float] | None]:
    """One of the two, with an entry for each dimension."""
    dims = input.ndim - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        return _checked_sizes(input, size) if isinstance(size, (list, tuple)) else [size] * dims, None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (list, tuple)):
        return None, [float(scale_factor)] * dims
    if len(scale_factor) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but "
            f"got input with spatial dimensions of {list(input.shape[2:])} and "
            f"scale_factor of shape {scale_factor}. "
            "Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    return None, [float(scale) for scale in scale_factor]


def _checked_sizes(input: Tensor, size: Sequence[int]) -> Sequence[int]:
    if len(size) != input.ndim - 2:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got "
            f"input with spatial dimensions of {list(input.shape[2:])} and output size of {size}. "
            "Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "output size in (o1, o2, ...,oK) format."
        )
    if not all(_is_integer(each) for each in size):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
            f"Tuple[int, int, int], but got size with types {[type(each) for each in size]}"
        )
    return size


def _is_integer(value: Any) -> bool:
    """Whether it is an integer: one of Python's, NumPy's, or in a tensor."""
    return isinstance(value, int | np.integer) or (isinstance(value, Tensor) and not value.is_floating_point())


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The old name of `interpolate`."""
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with the nearest element."""
    warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with the corners of the images aligned."""
    warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
