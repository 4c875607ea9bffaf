"""New arrays whose memory begins at a cache line, as torch's does, if they are large enough for it to matter.

NumPy begins an array wherever the C library does, 16 bytes into a line at best. Every load of a vector register then
touches two lines, which costs a sum of a million numbers a fifth of its time or more.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.buffers import bytes_of
from mindtorch._support import errors

LARGE = 1 << 18  # bytes: finding the line costs some microseconds, which is nothing from here on
_LINE = 64
_BYTES = np.dtype(np.uint8)
_MANY_TENSORS = 1 << 20
_BYTES_OF_A_TENSOR = 200  # with its array, or more
_WORTH_A_TRY = 1 << 30  # bytes: it costs some microseconds to ask for them and to give them back

# What NumPy raises when it cannot make an array; `no_room` tells what torch says then.
NO_ROOM = (MemoryError, ValueError, OverflowError)


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """np.empty, from the start of a cache line on if the array is large."""
    nbytes = prod(shape) * dtype.itemsize
    try:
        if nbytes < LARGE:
            return np.empty(shape, dtype)
        return _at_line(np.empty(nbytes + _LINE, _BYTES), shape, dtype)
    except NO_ROOM:
        raise no_room(shape, dtype) from None


def zeros(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """np.zeros, likewise: the pages of a large array still come from the system only when they are touched."""
    nbytes = prod(shape) * dtype.itemsize
    try:
        if nbytes < LARGE:
            return np.zeros(shape, dtype)
        return _at_line(np.zeros(nbytes + _LINE, _BYTES), shape, dtype)
    except NO_ROOM:
        raise no_room(shape, dtype) from None


def check_fits(shape: Sequence[int], dtype: np.dtype) -> None:
    """Refuses a result that memory has no room for, before a long walk over the indices of its elements.

    An expanded tensor takes no memory, so that there is no limit to how long that could be.
    """
    if prod(shape) * dtype.itemsize >= _WORTH_A_TRY:
        empty(shape, dtype)


def check_walk(array: np.ndarray) -> None:
    """The same for an array whose elements are read one by one, where torch makes a contiguous copy of it before."""
    if array.nbytes >= _WORTH_A_TRY and not array.flags.c_contiguous:
        empty(array.shape, array.dtype)


def check_tensors_fit(count: int) -> None:
    """Refuses so many results that memory has no room for the tensors, before they are made."""
    if count >= _MANY_TENSORS:
        try:
            np.empty(count * _BYTES_OF_A_TENSOR, _BYTES)
        except NO_ROOM:
            raise errors.no_objects() from None


def no_room(shape: Sequence[int], dtype: np.dtype) -> Exception:
    """torch's error for an array that NumPy could not make: of negative extents, too large to count, or for memory."""
    geometry.check_sizes(shape)
    geometry.check_room(shape, dtype.itemsize)
    if len(shape) > geometry.MOST_DIMS:
        return errors.too_many_dims()
    if 0 in shape:  # NumPy counts the bytes of arrays that have none, as if an extent of 0 were 1
        return errors.storage_overflow(shape)
    return errors.no_memory(prod(shape) * dtype.itemsize)


def scratch(count: int, dtype: np.dtype) -> np.ndarray:
    """np.empty from the start of a cache line on, however small: for memory that is used again and again."""
    return _at_line(np.empty(count * dtype.itemsize + _LINE, _BYTES), (count,), dtype)


def ones(count: int, dtype: np.dtype) -> np.ndarray:
    """np.ones, likewise."""
    result = scratch(count, dtype)
    result[:] = 1
    return result


def copy(array: np.ndarray) -> np.ndarray:
    """array.copy(), likewise: row-major, and of an array that is an ndarray itself."""
    if array.nbytes < LARGE:
        return array.copy()
    result = empty(array.shape, array.dtype)
    np.copyto(result, array)
    return result


def _at_line(memory: np.ndarray, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array over all of the memory but a line, which is the storage that its views share."""
    start = -memory.__array_interface__["data"][0] % _LINE
    return np.ndarray(shape, dtype, bytes_of(memory[start : start + memory.size - _LINE]))
