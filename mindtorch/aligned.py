"""New arrays whose memory begins at a cache line, as torch's does, if they are large enough for it to matter.

NumPy begins an array wherever the C library does, 16 bytes into a line at best. Every load of a vector register then
touches two lines, which costs a sum of a million numbers a fifth of its time or more.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from mindtorch.roots import bytes_of

LARGE = 1 << 18  # bytes: finding the line costs some microseconds, which is nothing from here on
_LINE = 64
_BYTES = np.dtype(np.uint8)


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """np.empty, from the start of a cache line on if the array is large."""
    nbytes = prod(shape) * dtype.itemsize
    if nbytes < LARGE:
        return np.empty(shape, dtype)
    return _at_line(np.empty(nbytes + _LINE, _BYTES), shape, dtype)


def zeros(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """np.zeros, likewise: the pages of a large array still come from the system only when they are touched."""
    nbytes = prod(shape) * dtype.itemsize
    if nbytes < LARGE:
        return np.zeros(shape, dtype)
    return _at_line(np.zeros(nbytes + _LINE, _BYTES), shape, dtype)


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
