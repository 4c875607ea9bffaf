"""NumPy arrays with chosen strides: new ones, and views of the memory behind an array.

`np.lib.stride_tricks.as_strided` takes microseconds; `np.ndarray` over a buffer takes a fraction of one, but wants a
C-contiguous buffer that NumPy can export, so most of this module finds that buffer.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import aligned, geometry
from mindtorch._core.buffers import byte_offset_of, memory_of, root_of
from mindtorch._core.memory_format import channels_last, channels_last_3d, memory_format, preserve_format
from mindtorch._support import errors

Array = np.ndarray

_BYTES = np.dtype(np.uint8)

# bfloat16 has no buffer format; as integers of the same size its arrays do.
_EXPORTED: dict[int, Any] = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}
_RANKS = {channels_last: 4, channels_last_3d: 5}


def strides_of(array: Array) -> tuple[int, ...]:
    """The array's strides in bytes. NumPy writes zeros for an array without elements; torch has row-major strides."""
    if array.size or any(array.strides):
        return array.strides
    return geometry.contiguous_strides(array.shape, array.itemsize)


def strided(
    array: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, dtype: Any = None
) -> Array:
    """The view of the memory behind `array` that starts `offset` bytes after its first element; strides in bytes."""
    buffer = array
    if not array.flags.c_contiguous:
        buffer, start = storage_of(array)
        offset += start
    return over_buffer(buffer, shape, strides, offset, array.dtype if dtype is None else dtype)


def over_buffer(buffer: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: np.dtype) -> Array:
    """The view of a C-contiguous array's memory, or of the storage around it if it does not lie within the array."""
    if 0 in shape:
        offset = min(max(offset, 0), buffer.nbytes)
    try:
        return np.ndarray(shape, dtype, _exportable(buffer), offset, strides)
    except (TypeError, ValueError):
        storage, start = storage_of(buffer)
        return _within(storage, shape, strides, offset + start, dtype)


def _within(storage: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: np.dtype) -> Array:
    """The view of a whole storage. There can be more elements of it than NumPy counts, as it counts their bytes."""
    try:
        return np.ndarray(shape, dtype, _exportable(storage), offset, strides)
    except ValueError:
        geometry.check_countable(shape, [stride // dtype.itemsize for stride in strides], dtype.itemsize)
        raise


def storage_of(array: Array) -> tuple[Array, int]:
    """The C-contiguous array that owns the memory of `array`, and the byte at which `array` starts in it."""
    return memory_of(root_of(array)), byte_offset_of(array)


def allocate(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> Array:
    """A new array with these strides (in bytes), in a storage just large enough. The values are whatever was there."""
    if 0 in shape:
        return _within(np.empty(0, np.uint8), shape, strides, 0, dtype)
    last = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if last > geometry.MOST - dtype.itemsize:
        raise errors.storage_overflow(shape, [stride // dtype.itemsize for stride in strides])
    return np.ndarray(shape, dtype, aligned.empty((last + dtype.itemsize,), _BYTES), 0, strides)


def empty_like(array: Array, dtype: np.dtype | None = None) -> Array:
    """A new array laid out as torch lays out `torch.empty_like(x)`."""
    dtype = dtype or array.dtype
    shape = array.shape
    if array.flags.c_contiguous and array.size:
        if 1 not in shape or array.strides == geometry.contiguous_strides(shape, array.itemsize):
            return aligned.empty(shape, dtype)
    strides = geometry.preserved_strides(array.shape, strides_of(array), array.itemsize)
    scaled = tuple([stride // array.itemsize * dtype.itemsize for stride in strides])
    return allocate(array.shape, scaled, dtype)


def laid_out(array: Array, strides: tuple[int, ...] | None) -> Array:
    """The elements with these strides, which count elements (None: row-major): the array itself, or a copy."""
    if strides is None:
        if array.flags.c_contiguous and 1 not in array.shape:
            return array
        scaled = geometry.contiguous_strides(array.shape, array.itemsize)
    else:
        scaled = tuple([stride * array.itemsize for stride in strides])
    if strides_of(array) == scaled:
        return array
    result = allocate(array.shape, scaled, array.dtype)
    result[...] = array
    return result


def _exportable(array: Array) -> Array:
    """The same memory under a dtype that the buffer protocol knows."""
    return array.view(_EXPORTED[array.itemsize]) if array.dtype.kind == "V" else array


def formatted_strides(size: Sequence[int], unit: int, memory_format: memory_format) -> tuple[int, ...]:
    """The strides of a dense array in a memory format that has strides of its own."""
    rank = _RANKS.get(memory_format)
    if rank is None:
        name = "Preserve" if memory_format is preserve_format else "Contiguous"
        raise RuntimeError(f"unsupported memory format {name}")
    if len(size) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format._name} format")
    return geometry.channels_last_strides(size, unit)
