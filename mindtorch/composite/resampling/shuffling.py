"""Ops that reorder channels."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch._core.geometry import suggested_format
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.backends.cpu.common.images import as_image
from mindtorch.composite.common.unseen import bare_floats
from mindtorch.dispatch import ops
from mindtorch.iterator import BLOCK


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
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
    split = *outer, channels // square, upscale_factor, upscale_factor, height, width
    order = *range(len(outer) + 1), -2, -4, -1, -3
    return _mixed(input, split, order, (*outer, channels // square, height * upscale_factor, width * upscale_factor))


def _mixed(input: Tensor, split: Sequence[int], order: Sequence[int], shape: Sequence[int]) -> Tensor:
    """A new tensor of the elements of some more dimensions in another order, in the memory format of the input."""
    if (arrays := bare_floats(input)) is not None and arrays[0].size <= BLOCK:
        return wrap(as_image(arrays[0].reshape(split).transpose(order).copy().reshape(shape), arrays[0]))
    mixed = input.reshape(split).permute(order)
    result = ops._unsafe_view(mixed.clone(memory_format=contiguous_format), tuple(shape))  # reshape might give a view
    form = suggested_format(input._mt_array)
    return result if form is contiguous_format else result.clone(memory_format=form)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
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
    split = *outer, channels, low, downscale_factor, wide, downscale_factor
    order = *range(len(outer) + 1), -3, -1, -4, -2
    return _mixed(input, split, order, (*outer, channels * downscale_factor * downscale_factor, low, wide))


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
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
    order = 0, 2, 1, *range(3, len(rest) + 3)
    return _mixed(input, (batch, groups, channels // groups, *rest), order, tuple(input.shape))
