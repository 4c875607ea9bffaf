"""Shapes and strides of arrays. NumPy counts strides in bytes, torch in elements: `strides_of` is the one place."""

from collections.abc import Sequence
from typing import Any

from mindtorch import errors
from mindtorch.memory_format import channels_last, channels_last_3d, contiguous_format, memory_format

_CHANNELS_LAST_ORDER = {channels_last: (1, 3, 2, 0), channels_last_3d: (1, 4, 3, 2, 0)}


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a row-major tensor. A dimension of size 0 counts as 1, as in torch."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def channels_last_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a 4-d or 5-d tensor whose channels (dimension 1) lie closest together."""
    strides = [0] * len(shape)
    step = 1
    for dim in (1, *range(len(shape) - 1, 1, -1), 0):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def strides_of(array: Any) -> tuple[int, ...]:
    """An array's strides in elements."""
    strides = array.strides
    if array.size == 0 and not any(strides):  # NumPy gives every empty array strides of 0
        return contiguous_strides(array.shape)
    itemsize = array.itemsize
    return tuple([stride // itemsize for stride in strides])


def is_contiguous(array: Any, format: memory_format = contiguous_format) -> bool:
    """Whether the elements lie in memory in the order of `format`, without gaps; size-1 dimensions don't matter."""
    if format is contiguous_format:
        return array.flags.c_contiguous
    if format not in _CHANNELS_LAST_ORDER:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    order = _CHANNELS_LAST_ORDER[format]
    return len(order) == array.ndim and _is_dense_in_order(array, order)


def _is_dense_in_order(array: Any, order: tuple[int, ...]) -> bool:
    strides = strides_of(array)
    step = 1
    for dim in order:
        if array.shape[dim] != 1:
            if strides[dim] != step:
                return False
            step *= array.shape[dim]
    return True


def is_non_overlapping_and_dense(array: Any) -> bool:
    """Whether some order of the dimensions makes the array contiguous."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    strides = strides_of(array)
    dims = sorted((dim for dim in range(array.ndim) if array.shape[dim] > 1), key=lambda dim: strides[dim])
    return _is_dense_in_order(array, tuple(dims))


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; torch's IndexError when there is no such dimension."""
    if -ndim <= dim < ndim:
        return dim % ndim
    if ndim == 0 and dim in (-1, 0):
        return 0
    raise errors.dim_out_of_range(dim, ndim)
