"""New arrays and conversions for any backend: on the CPU by NumPy, elsewhere by the kernels that every backend has."""

from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch._core import geometry, strided
from mindtorch._core.aligned import NO_ROOM, no_room
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch.dispatch.registry import kernel_table
from mindtorch.iterator.shapes import Shape

_empty_strided = kernel_table("empty_strided")
_to_copy = kernel_table("_to_copy")
_copy = kernel_table("copy_")


def allocate(like: Any, shape: Shape, strides: Shape | None, dtype: np.dtype) -> Any:
    """A new array on the device of `like`, which is of another backend. The values are not set."""
    if strides is None:
        strides = geometry.contiguous_strides(shape)
    return _empty_strided[type(like)](shape, strides, FROM_NUMPY[dtype], None, like.device, None)


def new_array(shape: Shape, strides: Shape | None, dtype: np.dtype) -> np.ndarray:
    """A CPU array with these strides, in elements; None stands for row-major."""
    if strides is None:
        try:
            return np.empty(shape, dtype)
        except NO_ROOM:
            raise no_room(shape, dtype) from None
    if 0 in shape or 1 in shape:  # NumPy has strides of its own for these dimensions
        return strided.allocate(shape, tuple([stride * dtype.itemsize for stride in strides]), dtype)
    ordered, places = _memory_axes(shape, strides)
    try:
        return np.empty(ordered, dtype).transpose(places)
    except NO_ROOM:
        geometry.check_strided_room(shape, strides, dtype.itemsize)
        raise no_room(shape, dtype) from None


@lru_cache(maxsize=4096)
def _memory_axes(shape: Shape, strides: Shape) -> tuple[Shape, Shape]:
    """The shape with the outermost dimension first, and where each dimension has gone."""
    order = sorted(range(len(shape)), key=lambda dim: (-strides[dim], -shape[dim]))
    places = sorted(range(len(shape)), key=order.__getitem__)
    return tuple([shape[dim] for dim in order]), tuple(places)


def converted(array: Any, dtype: np.dtype) -> Any:
    """A copy of an array with another dtype, in the same memory order; the array itself if it has that dtype."""
    return array if array.dtype == dtype else _to_copy[type(array)](array, FROM_NUMPY[dtype])


def copy_to(target: Any, source: Any) -> None:
    """Writes the elements of `source` to `target`, converted."""
    _copy[type(target)](target, source, False)
