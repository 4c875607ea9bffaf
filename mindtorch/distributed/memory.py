"""The memory that collectives work with: flat arrays of the CPU, or of a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.tensor import wrap
from mindtorch.backends.device_array import DeviceArray

Memory = Any  # a NumPy array or a DeviceArray, of one dimension where nothing else is said


def flat(array: Memory) -> Memory:
    """The elements of an array without gaps as they lie in memory."""
    if type(array) is np.ndarray:
        return array.reshape(-1) if array.flags.c_contiguous else array.transpose(_outermost_first(array)).reshape(-1)
    return array.part((array.size,), array.dtype, (array.itemsize,), array.byte_offset)


def in_rows(array: Memory) -> Memory:
    """The elements of an array row by row, copied if they lie in another order."""
    if type(array) is np.ndarray:
        return np.ascontiguousarray(array).reshape(-1)  # reshape alone leaves even gaps
    return flat(array if array.flags.c_contiguous else wrap(array).contiguous()._mt_array)


def _outermost_first(array: np.ndarray) -> list[int]:
    return sorted(range(array.ndim), key=lambda dim: -array.strides[dim])


def empty(count: int, like: Memory) -> Memory:
    """So many elements, of the dtype and on the device of others."""
    if type(like) is np.ndarray:
        return np.empty(count, like.dtype)
    root = type(like).new_root(count * like.itemsize, like.device)
    return root.array((count,), like.dtype, (like.itemsize,))


def copied(memory: Memory) -> Memory:
    return write(empty(memory.size, memory), memory)


def write(to: Memory, source: Memory) -> Memory:
    """Copy elements to as many others."""
    if type(to) is np.ndarray:
        to[...] = source
    elif to.size:
        to.copy_from(source)
    return to


def joined(parts: Sequence[Memory]) -> Memory:
    """The elements of several arrays, one after the other."""
    if type(parts[0]) is np.ndarray:
        return np.concatenate(parts)
    whole = empty(sum(each.size for each in parts), parts[0])
    for each, place in zip(parts, split(whole, [each.size for each in parts]), strict=True):
        write(place, each)
    return whole


def part(memory: Memory, start: int, count: int) -> Memory:
    """Some of the elements, not copied."""
    if type(memory) is np.ndarray:
        return memory[start : start + count]
    place = memory.byte_offset + start * memory.itemsize
    return memory.part((count,), memory.dtype, (memory.itemsize,), place)


def split(memory: Memory, counts: Sequence[int]) -> list[Memory]:
    """Its parts, one after the other."""
    starts = [sum(counts[:place]) for place in range(len(counts))]
    return [part(memory, start, count) for start, count in zip(starts, counts, strict=True)]


def deliver(array: Memory, rows: Memory) -> None:
    """Write elements that lie row by row to an array, however that lies."""
    if type(array) is np.ndarray:
        array[...] = rows.reshape(array.shape)
    else:
        write(array, wrap(rows).view(array.shape)._mt_array)


def deliver_all(arrays: Sequence[Memory], places: Sequence[Memory]) -> None:
    """Write what was received elsewhere to the arrays."""
    for array, place in zip(arrays, places, strict=True):
        if place.size and not is_part_of(place, array):
            deliver(array, place)


def is_part_of(memory: Memory, array: Memory) -> bool:
    """Whether elements in their order in memory are those of the array, and not copies."""
    return np.may_share_memory(memory, array) if type(array) is np.ndarray else memory.root is array.root


def places_for(arrays: Sequence[Memory], inputs: Sequence[Memory]) -> list[Memory]:
    """Where parts can be written while the inputs are read: the arrays themselves, or memory to be delivered from."""
    if all(each.flags.c_contiguous for each in arrays):
        rows = [flat(each) for each in arrays]
        if _lie_apart(rows, inputs):
            return rows
    return [empty(each.size, each) for each in arrays]


def _lie_apart(written: Sequence[Memory], read: Sequence[Memory]) -> bool:
    """Whether nothing that is written overlaps with anything else."""
    if type(written[0]) is not np.ndarray:
        roots = {id(each.root) for each in written}
        return len(roots) == len(written) and not any(id(each.root) in roots for each in read)
    spans = sorted((*_span(each), True) for each in written) + [(*_span(each), False) for each in read]
    end = 0  # of what was written, and of anything below it
    reached = 0
    for start, stop, is_written in sorted(spans):
        if start < (reached if is_written else end):
            return False
        reached = max(reached, stop)
        end = max(end, stop) if is_written else end
    return True


def _span(memory: np.ndarray) -> tuple[int, int]:
    start = memory.__array_interface__["data"][0]
    return start, start + memory.nbytes


def apart(source: Memory, memory: Memory) -> Memory:
    """The source, copied if it is part of what is written."""
    if type(source) is np.ndarray:
        return source.copy() if np.may_share_memory(source, memory) else source
    return copied(source) if source.root is memory.root else source


def multiply(memory: Memory, factor: Any) -> None:
    """By a number, in place."""
    if type(memory) is np.ndarray:
        np.multiply(memory, factor, out=memory)
    else:
        wrap(memory).mul_(factor)


def divide(memory: Memory, number: int) -> None:
    """By a number, in place."""
    if type(memory) is np.ndarray:
        np.divide(memory, memory.dtype.type(number), out=memory)
    else:
        wrap(memory).div_(number)


def has_nan(memory: Memory | list[Memory]) -> bool:
    """Whether a number is NaN, of one memory or of several. Waits for a device."""
    if isinstance(memory, list):
        return any(has_nan(each) for each in memory)
    if memory.dtype.kind in "biu":
        return False
    return bool(np.isnan(memory).any() if type(memory) is np.ndarray else wrap(memory).isnan().any().item())


def index_of(array: Memory) -> int | None:
    """The number of the device that an array is on; None for the CPU."""
    return None if type(array) is np.ndarray else array.device.index


def is_on_device(array: Any) -> bool:
    """Whether an array is in memory of a device; those of meta are in none."""
    return isinstance(array, DeviceArray) and array.device.type != "meta"
