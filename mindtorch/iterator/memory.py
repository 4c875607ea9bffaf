"""New arrays and conversions for any backend: calls of the kernels that every backend has."""

from typing import Any

import numpy as np

from mindtorch.dispatch.registry import kernel_table
from mindtorch.dtype import FROM_NUMPY
from mindtorch.iterator.shapes import Shape

_empty_strided = kernel_table("empty_strided")
_to_copy = kernel_table("_to_copy")
_copy = kernel_table("copy_")


def allocate(like: Any, shape: Shape, strides: Shape, dtype: np.dtype) -> Any:
    """A new array on the device of `like`, for None on the CPU; strides in elements. The values are not set."""
    if like is None or isinstance(like, np.ndarray):
        return _empty_strided[np.ndarray](shape, strides, FROM_NUMPY[dtype])
    return _empty_strided[type(like)](shape, strides, FROM_NUMPY[dtype], None, like.device, None)


def converted(array: Any, dtype: np.dtype) -> Any:
    """A copy of an array with another dtype, in the same memory order."""
    return _to_copy[type(array)](array, FROM_NUMPY[dtype])


def copy_to(target: Any, source: Any) -> None:
    """Writes the elements of `source` to `target`, converted."""
    _copy[type(target)](target, source, False)
