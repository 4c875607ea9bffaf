"""Python's `multiprocessing`, with tensors that are sent to another process as shared memory, not as copies."""

import os
from multiprocessing import *  # noqa: F403
from multiprocessing.reduction import DupFd, register  # type: ignore[attr-defined]
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from mindtorch.mapping import Mapping, mapping_of, root_in
from mindtorch.storage import UntypedStorage, storage_of
from mindtorch.tensor import Tensor

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Note how memory is to be shared; it is by descriptors of files, whatever is asked for."""
    global _strategy
    known = get_all_sharing_strategies()
    if new_strategy not in known:
        raise AssertionError(f"invalid sharing strategy '{new_strategy}', expected one of {known}")
    _strategy = new_strategy


# The shared memory that this process was sent and uses, by file: a storage that is sent twice is one storage here.
_received: WeakValueDictionary[tuple[int, int], np.ndarray] = WeakValueDictionary()


def rebuild_storage(descriptor: Any, nbytes: int) -> UntypedStorage:
    """The storage in a file that another process has sent."""
    file = descriptor.detach()
    status = os.fstat(file)
    key = (status.st_dev, status.st_ino)
    root = _received.get(key)
    if root is None:
        root = _received[key] = root_in(Mapping(file, nbytes), nbytes)
    else:
        os.close(file)
    return storage_of(root)


def _reduce_storage(storage: UntypedStorage) -> tuple:
    mapping = mapping_of(storage.share_memory_()._root)
    assert mapping is not None  # what has just been shared lies in one
    return rebuild_storage, (DupFd(mapping.descriptor), storage.nbytes())


def _reduce_tensor(tensor: Any) -> tuple:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    return tensor.__reduce_ex__(2)


def prepare() -> None:
    """From now on `multiprocessing` sends storages as shared memory."""
    register(UntypedStorage, _reduce_storage)
    register(Tensor, _reduce_tensor)


prepare()
