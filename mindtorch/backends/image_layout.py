"""The memory formats of results of image ops: which of them follow channels-last inputs, and with which strides.

Over anything that has NumPy's `shape`, `strides` and `flags`, for the kernels of every backend. Strides are in
elements; None stands for row-major.
"""

from typing import Any

from mindtorch._core import geometry
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.promotion import DOUBLE, HALF

Shape = tuple[int, ...]


def following(array: Any, shape: Shape) -> Shape | None:
    """The strides of a result of `shape` that has the memory format that the strides of `array` look like."""
    if geometry.suggested_format(array) is contiguous_format:
        return None
    return geometry.channels_last_strides(shape)


def of_padding(array: Any, shape: Shape, pad: Any) -> Shape | None:
    """The strides of a result of `shape`: of what is only cut off, those of a copy of the part."""
    if any(width > 0 for width in pad):
        return following(array, shape)
    return geometry.preserved_strides(shape, geometry.strides_of(array))


def of_normalization(array: Any) -> Shape | None:
    """The strides of a result of the same shape, row-major wherever the array is."""
    if geometry.has_format(array):
        return None
    form = geometry.LAST_FORMATS.get(array.ndim)
    if form is not None and geometry.has_format(array, form):
        return geometry.channels_last_strides(array.shape)
    return following(array, array.shape)


def of_convolution(input: Any, weight: Any, shape: Shape) -> Shape | None:
    """The strides of an output or a gradient of `shape`: channels-last if the input or the weight looks like it."""
    if len(shape) == 3:
        return _of_flat_convolution(input, weight, shape)
    if len(shape) == 5 and input.dtype in (HALF, DOUBLE):
        return None  # torch has a kernel for channels-last volumes of the other dtypes only
    return following(input, shape) or following(weight, shape)


def _of_flat_convolution(input: Any, weight: Any, shape: Shape) -> Shape | None:
    """A convolution over one dimension is done over two, of which the first has one element.

    The input is made row-major for it, so only its strides in dimensions of one element can look like channels-last.
    """
    may_look = [weight, input] if geometry.has_format(input) else [weight]
    if not any(_looks_last_with_row(array.shape, geometry.strides_of(array)) for array in may_look):
        return None
    batch, channels, _, places = geometry.channels_last_strides((*shape[:2], 1, shape[2]))
    return batch, channels, places


def _looks_last_with_row(shape: Shape, strides: Shape) -> bool:
    with_row = (*shape[:2], 1, shape[2])
    return geometry.is_like_channels_last(with_row, (*strides[:2], shape[2] * strides[2], strides[2]))
