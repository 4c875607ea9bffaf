"""Tensors follow their storage to other memory: when it grows, for a tensor that is resized, and when it is shared with
other processes."""

import gc
import sys
from typing import Any

import numpy as np

from mindtorch._core.buffers import byte_offset_of, root_of
from mindtorch._core.geometry import extent_of, strides_of
from mindtorch._core.storage import UntypedStorage, array_on, followers, storage_of
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import mark_written, set_array
from mindtorch.backends.device_array import DeviceArray

LARGEST_INT = 2**63 - 1

_ONE_HOLDER = 3  # references to an array that one other object holds: its own, the name in use, the argument


def follow(old_root: np.ndarray, storage: UntypedStorage) -> None:
    """Give the tensors on the old memory of a storage arrays on the new one.

    A storage has no list of its tensors: keeping one would cost every operation something, and looking for them
    takes some milliseconds once.
    """
    memory = storage.bytes_view()
    for tensor in _tensors_on(old_root):
        array = tensor._mt_array
        moved = np.ndarray(array.shape, array.dtype, memory, byte_offset_of(array), array.strides)
        set_array(tensor, moved)


def is_only_tenant(tensor: Any, names: int = 0) -> bool:
    """Whether, by reference counts, only a tensor and its storage, which the caller has, hold the memory.

    Each array from the tensor's down to the root is held by the one above it, the name here and the call; the root also
    by the storage and a second name here. A count that is higher for another reason only means that tensors are
    looked for. `names`: how many names of its callers hold the tensor's array besides.
    """
    array = tensor._mt_array
    root = root_of(array)
    while isinstance(array, np.ndarray) and sys.getrefcount(array) <= _ONE_HOLDER + names + 2 * (array is root):
        if array is root:
            return True
        array, names = array.base, 0
    return False


def _tensors_on(root: np.ndarray) -> list[Any]:
    objects = [each for each in gc.get_objects() if issubclass(type(each), Tensor)]
    return [each for each in objects if isinstance(each._mt_array, np.ndarray) and root_of(each._mt_array) is root]


# -------------------- arrays on a storage --------------------


def adopt_result(out: Tensor, array: Any) -> Tensor:
    """Give `out`, which has been written, the array that a kernel has made: its own, or one of another shape."""
    if array is not out._mt_array:
        _resize_to(out, array)
    if (counter := out._mt_version) is not None:
        counter[0] += 1
    else:
        mark_written(out)
    return out


def _resize_to(out: Tensor, array: Any) -> None:
    """Give `out` an array of another shape. The function of the op has a name for the old one.

    A storage of some bytes goes on being that of `out`; an empty one without views takes the new memory over.
    """
    if not _has_storage(out):
        set_array(out, array)
        return
    storage = storage_of(out._mt_array)
    if not storage.nbytes() and not byte_offset_of(array) and is_only_tenant(out, names=1):
        storage.take_over(root_of(array))
        set_array(out, array)
    else:
        move_into(out, array, names=1)


def move_into(out: Tensor, array: Any, names: int = 0) -> None:
    """Resize a tensor to the shape and the strides of an array, and write the array to its storage."""
    if not _has_storage(out):
        set_array(out, array)
        return
    resized = resized_array(out, array.shape, strides_of(array), names)
    if isinstance(array, np.ndarray):
        np.copyto(resized, array)
    else:
        resized.copy_from(array)
    set_array(out, resized)


def resized_array(tensor: Any, shape: tuple[int, ...], strides: tuple[int, ...], names: int = 0) -> Any:
    """An array of another shape on a tensor's storage, or on a larger one that begins with the same bytes."""
    storage, offset = tensor.untyped_storage(), tensor.storage_offset()
    needed = bytes_needed(tensor.dtype, offset, shape, strides)
    if needed > len(storage) and storage.resizable() and is_only_tenant(tensor, names):
        storage.grow(needed, has_tenants=False)
    return array_on_enough(storage, tensor.dtype, offset, shape, strides)


def _has_storage(tensor: Tensor) -> bool:
    return isinstance(tensor._mt_array, (np.ndarray, DeviceArray))


def bytes_needed(dtype: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    needed = 0 if 0 in shape else (offset + extent_of(shape, strides)) * dtype.itemsize
    if needed > LARGEST_INT:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    return needed


def array_on_enough(
    storage: UntypedStorage, dtype: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Any:
    """An array on the storage, which grows if it is too small."""
    needed = bytes_needed(dtype, offset, shape, strides)
    if needed > len(storage):
        storage.resize_(needed)
    return array_on(storage, dtype, offset, shape, strides)


followers.append(follow)
