"""Ops that reorder channels."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch._core.geometry import suggested_format
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def pixel_shuffle(input, upscale_factor):
    if input.ndim < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    *outer, channels, height, width = input.shape
    square = upscale_factor * upscale_factor
    if channels % square:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {square}"
        )
    if upscale_factor == 1:
        return input.clone(memory_format=suggested_format(input._mt_array))
    split = input.reshape(*outer, channels // square, upscale_factor, upscale_factor, height, width)
    mixed = split.permute(*range(len(outer) + 1), -2, -4, -1, -3)
    shape = *outer, channels // square, height * upscale_factor, width * upscale_factor
    return _joined(mixed, shape, input)


def _joined(mixed: Tensor, shape: Sequence[int], input: Tensor) -> Tensor:
    """A new tensor of the elements, in the memory format of the input. (Where nothing moves, reshape gives a view.)"""
    result = ops._unsafe_view(mixed.clone(memory_format=contiguous_format), tuple(shape))
    form = suggested_format(input._mt_array)
    return result if form is contiguous_format else result.clone(memory_format=form)


def pixel_unshuffle(input, downscale_factor):
    if input.ndim < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if downscale_factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    *outer, channels, height, width = input.shape
    for name, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, "
                f"but input.size({dim})={size} is not divisible by {downscale_factor}"
            )
    if downscale_factor == 1:
        return input.clone(memory_format=suggested_format(input._mt_array))
    low, wide = height // downscale_factor, width // downscale_factor
    split = input.reshape(*outer, channels, low, downscale_factor, wide, downscale_factor)
    mixed = split.permute(*range(len(outer) + 1), -3, -1, -4, -2)
    return _joined(mixed, (*outer, channels * downscale_factor * downscale_factor, low, wide), input)


def channel_shuffle(input, groups):
    if input.ndim <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    batch, channels, *rest = input.shape
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    if not input.numel():
        return ops.alias(input)
    mixed = input.reshape(batch, groups, channels // groups, *rest).transpose(1, 2)
    return _joined(mixed, input.shape, input)
