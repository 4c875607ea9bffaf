"""Which strides torch gives results of elementwise ops on meta tensors: in a few cases others than on the CPU."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core import geometry

Shape = tuple[int, ...]


def elementwise_layout(arrays: Sequence[Any]) -> tuple[Shape, Shape | None]:
    """The shape of a result and its strides in elements; `None` stands for row-major.

    CPU arrays without dimensions have no say. Where the operands are both row-major and channels-last, as with sizes of
    1, and where they are neither, their dimensions are sorted, also if they are dense and alike.
    """
    shape = iterator.broadcast_shapes(*[array.shape for array in arrays])
    counted = [array for array in arrays if array.ndim or not isinstance(array, np.ndarray)]
    strides = [_expanded(array, shape) for array in counted]
    are_contiguous = all(geometry.is_contiguous(shape, own) for own in strides)
    are_channels_last = _are_channels_last(shape, strides)
    if are_contiguous and not are_channels_last:
        return shape, None
    if are_channels_last and not are_contiguous:
        return shape, geometry.channels_last_strides(shape)
    order = geometry.memory_order(shape, *strides)
    return shape, geometry.strides_in_order([size or 1 for size in shape], order)


def _are_channels_last(shape: Shape, strides: Sequence[Shape]) -> bool:
    order = geometry.channels_last_order(len(shape))
    return len(shape) in geometry.LAST_FORMATS and all(geometry.is_dense_in_order(shape, own, order) for own in strides)


def _expanded(array: Any, shape: Shape) -> Shape:
    return iterator.expanded_strides(shape, array.shape, geometry.strides_of(array))
