"""Tensors follow their storage to other memory: when it grows, and when it is shared with other processes."""

import gc
import sys
from typing import Any

import numpy as np

from mindtorch.autograd.history import set_array
from mindtorch.roots import byte_offset_of, root_of
from mindtorch.storage import UntypedStorage, followers
from mindtorch.tensor import Tensor

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


def is_only_tenant(tensor: Any) -> bool:
    """Whether nobody but a tensor and its storage, which the caller has, holds the memory: so say reference counts.

    Each array from the tensor's down to the root is held by the one above it, the name here and the call; the root also
    by the storage and a second name here. A count that is higher for another reason only means that tensors are
    looked for.
    """
    array = tensor._mt_array
    root = root_of(array)
    while isinstance(array, np.ndarray) and sys.getrefcount(array) <= _ONE_HOLDER + 2 * (array is root):
        if array is root:
            return True
        array = array.base
    return False


def _tensors_on(root: np.ndarray) -> list[Any]:
    objects = [each for each in gc.get_objects() if issubclass(type(each), Tensor)]
    return [each for each in objects if isinstance(each._mt_array, np.ndarray) and root_of(each._mt_array) is root]


followers.append(follow)
