"""What kernels that are written by hand are put together from: small calls of ACLNN, and views."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import BFLOAT16, FLOAT, HALF
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.launch import aclnn, copied

# The floating dtypes that ACLNN's functions for networks take, on all chips that have bfloat16.
FLOATS = (FLOAT, HALF, BFLOAT16)

_add_number = aclnn("aclnnAdds", "TSST")
_count = aclnn("aclnnArange", "SSST")
_one = aclnn("aclnnInplaceOne", "T")
_zero = aclnn("aclnnInplaceZero", "T")
_search = aclnn("aclnnSearchSorted", "TTbbTT")


def like(array: NpuArray, dtype: np.dtype | None = None, shape: tuple[int, ...] | None = None) -> NpuArray:
    """A row-major array on the same device, not initialised."""
    return new(array.shape if shape is None else shape, array.dtype if dtype is None else dtype, array.root.index)


def converted(array: Any, dtype: np.dtype) -> Any:
    """An array in a dtype: itself, if it has it."""
    if array is None or array.dtype == dtype:
        return array
    return copied(like(array, dtype), array)


def contiguous(array: NpuArray) -> NpuArray:
    return array if array.flags.c_contiguous else copied(like(array), array)


def zeroed(array: NpuArray) -> NpuArray:
    if array.size:
        _zero(array)
    return array


def ones(shape: tuple[int, ...], dtype: np.dtype, index: int) -> NpuArray:
    result = new(shape, dtype, index)
    if result.size:
        _one(result)
    return result


# -------------------- views --------------------


def shaped(array: NpuArray, shape: tuple[int, ...], strides: tuple[int, ...]) -> NpuArray:
    """The same elements, seen in another shape."""
    return array.part(shape, array.dtype, strides, array.byte_offset)


def with_dim(array: NpuArray, dim: int) -> NpuArray:
    """With one more dimension, of one element, in front of that one."""
    place = dim % array.ndim
    shape, strides = list(array.shape), list(array.strides)
    shape.insert(place, 1)
    strides.insert(place, array.strides[place] * array.shape[place])
    return shaped(array, tuple(shape), tuple(strides))


def in_one_dim(array: NpuArray) -> NpuArray:
    """An array of one element as functions want it that take no array without dimensions."""
    return shaped(array, (1,), (array.itemsize,))


def narrowed(array: NpuArray, dim: int, start: int, size: int) -> NpuArray:
    """Some places of a dimension."""
    shape = list(array.shape)
    shape[dim] = size
    return array.part(tuple(shape), array.dtype, array.strides, array.byte_offset + start * array.strides[dim])


def columns(array: NpuArray, count: int) -> list[NpuArray]:
    """The parts of equal size that the last dimension has."""
    size = array.shape[-1] // count
    return [narrowed(array, array.ndim - 1, place * size, size) for place in range(count)]


# -------------------- bags --------------------


def bag_numbers(offsets: NpuArray, count: int) -> NpuArray:
    """The bag of each of so many indices: how many bags have begun there, counted from zero."""
    places = like(offsets, shape=(count,))
    _count(0, count, 1, places)
    begun, result = like(places), like(places)
    _search(offsets, places, False, True, None, begun)
    _add_number(begun, -1, 1, result)
    return result
