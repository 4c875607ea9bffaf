"""How tensors and storages are pickled for another process: as the file that their memory lies in, and where in it.

A file goes to the process as a descriptor: with the message itself if that goes through a `Channel`, else when it is
unpickled, from a thread of the sender (`multiprocessing.resource_sharer`).
"""

from __future__ import annotations

import os
import threading
from multiprocessing import resource_sharer
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import recv_handle, register, send_handle
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import sparse_coo, strided
from mindtorch._core.shared_memory import Mapping, file_of, mapping_of, offset_in_mapping, root_in
from mindtorch._core.storage import UntypedStorage, array_on, storage_of
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._functions.creation import sparse_coo_tensor
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn
from mindtorch._tensor_methods.rebuilding import rebuild_from_array
from mindtorch.nn.parameter import Parameter
from mindtorch.sparse import sparse_compressed_tensor

_resource: Any = lazy("resource")  # Unix only
_sharer: Any = resource_sharer._resource_sharer  # type: ignore[attr-defined]

OUT_OF_FILES = (
    "Too many open files. Communication with the workers is no longer possible. Please increase the limit using "
    "`ulimit -n` in the shell or change the sharing strategy by calling "
    "`torch.multiprocessing.set_sharing_strategy('file_system')` at the beginning of your code"
)

# The child of a forkserver gets no more descriptors with its start than this; Python's limit is 256.
_WITH_START = 200

# The memory that this process shares, by file and place: a storage that is sent twice, or sent back, is one storage.
_mappings: WeakValueDictionary[tuple[int, int], Mapping] = WeakValueDictionary()
_roots: WeakValueDictionary[tuple[int, int, int], np.ndarray] = WeakValueDictionary()

# The files that a process is being started with, by descriptor, and in the new process what was mapped of them.
_files_of_start: WeakKeyDictionary[Any, dict[Any, _FileOfStart]] = WeakKeyDictionary()
_mappings_of_start: WeakValueDictionary[int, Mapping] = WeakValueDictionary()


class _Message(threading.local):
    """The files that go with the message that this thread pickles or unpickles."""

    outgoing: list[Mapping] | None = None
    incoming: list[Mapping] | None = None


message = _Message()


# -------------------- files --------------------


class _SharedFile:
    """A mapping on its way: its file is sent when the other process asks for it."""

    def __init__(self, mapping: Mapping) -> None:
        def send(connection: Any, process: int) -> None:
            send_handle(connection, descriptor_of(mapping), process)

        self._ticket = _sharer.register(send, lambda: None)

    def arrive(self) -> Mapping:
        """The mapping, in the process that was sent it."""
        with _sharer.get_connection(self._ticket) as connection:
            return received(recv_handle(connection))


class _FileOfMessage:
    """A mapping whose file comes with the message."""

    def __init__(self, number: int) -> None:
        self._number = number

    def arrive(self) -> Mapping:
        assert message.incoming is not None
        return message.incoming[self._number]


class _FileOfStart:
    """A mapping whose file a process is started with."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def arrive(self) -> Mapping:
        descriptor = self._handle.detach()
        mapping = _mappings_of_start.get(descriptor)
        if mapping is None:
            mapping = _mappings_of_start[descriptor] = received(descriptor)
        return mapping


def _travelling(mapping: Mapping) -> Any:
    """What stands for a file in a pickle; its `arrive` gives the receiver a mapping of it."""
    if message.outgoing is not None:
        if mapping not in message.outgoing:
            message.outgoing.append(mapping)
        return _FileOfMessage(message.outgoing.index(mapping))
    start: Any = get_spawning_popen()
    files = None if start is None else _files_of_start.setdefault(start, {})
    descriptor = descriptor_of(mapping)
    if files is None or descriptor not in files and len(files) == _WITH_START:
        return _SharedFile(mapping)
    if descriptor not in files:
        files[descriptor] = _FileOfStart(start.DupFd(start.duplicate_for_child(descriptor)))
    return files[descriptor]


def descriptor_of(mapping: Mapping) -> int:
    """Of a mapping whose file is open, as `_shared` sees to."""
    assert mapping.descriptor is not None
    return mapping.descriptor


def received(descriptor: int) -> Mapping:
    """A mapping of a file that another process has sent, or the one that this process has of it."""
    key = file_of(descriptor)
    mapping = _mappings.get(key)
    if mapping is not None:
        os.close(descriptor)
        return mapping
    mapping = _mappings[key] = Mapping(descriptor, os.fstat(descriptor).st_size)
    # Descriptors are given out from below: half of them are in use. What was received is seldom sent on.
    if descriptor > _resource.getrlimit(_resource.RLIMIT_NOFILE)[0] // 2:
        mapping.close_file()
    return mapping


# -------------------- storages --------------------


def rebuild_storage(file: Any, offset: int, nbytes: int) -> UntypedStorage:
    """The storage in a file that another process has sent."""
    mapping = file.arrive()
    key = (id(mapping), offset, nbytes)
    root = _roots.get(key)
    if root is None:
        root = _roots[key] = root_in(mapping, nbytes, offset)
    return storage_of(root)


def reduce_storage(storage: UntypedStorage) -> tuple:
    if storage.device.type == "meta":
        raise RuntimeError("Cannot pickle meta storage; try pickling a meta tensor instead")
    if not storage.nbytes():
        return UntypedStorage, ()
    root = storage.share_memory_()._root
    mapping = mapping_of(root)
    assert mapping is not None  # what has just been shared lies in one
    if mapping.descriptor is None:
        raise RuntimeError(OUT_OF_FILES)
    _mappings.setdefault(file_of(mapping.descriptor), mapping)
    place = offset_in_mapping(root), storage.nbytes()
    _roots.setdefault((id(mapping), *place), root)
    return rebuild_storage, (_travelling(mapping), *place)


# -------------------- tensors --------------------


def reduce_tensor(tensor: Any) -> tuple:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    _warn_of_hooks(tensor)
    if tensor.layout is not strided:
        return _rebuild_sparse, (tensor.layout, _parts_of(tensor), tuple(tensor.shape), tensor.requires_grad)
    if type(tensor._mt_array) is not np.ndarray:
        return tensor.__reduce_ex__(2)
    if tensor.numel():
        tensor.share_memory_()
    geometry = (tensor.dtype, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    rebuild = rebuild_parameter if type(tensor) is Parameter else rebuild_tensor
    return rebuild, (tensor.untyped_storage(), *geometry, tensor.requires_grad)


def rebuild_tensor(
    storage: UntypedStorage, dtype: Dtype, offset: int, shape: tuple, stride: tuple, requires_grad: bool
) -> Tensor:
    """A tensor on a storage."""
    return rebuild_from_array(array_on(storage, dtype, offset, shape, stride), requires_grad)


def rebuild_parameter(
    storage: UntypedStorage, dtype: Dtype, offset: int, shape: tuple, stride: tuple, requires_grad: bool
) -> Parameter:
    """A parameter on a storage."""
    return Parameter(wrap(array_on(storage, dtype, offset, shape, stride)), requires_grad)


def _warn_of_hooks(tensor: Any) -> None:
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning"
            )


def _parts_of(tensor: Any) -> tuple:
    """The parts of a sparse tensor, which from now on lie in shared memory."""
    array = tensor._mt_array
    is_coo = tensor.layout is sparse_coo
    names = ("indices", "values") if is_coo else ("compressed", "plain", "values")
    parts = [wrap(getattr(array, name)) for name in names]
    for name, part in zip(names, parts):
        if part.numel():
            setattr(array, name, part.share_memory_()._mt_array)
    return (*parts, array.coalesced) if is_coo else tuple(parts)


def _rebuild_sparse(layout: Layout, parts: tuple, shape: tuple, requires_grad: bool) -> Tensor:
    if layout is sparse_coo:
        indices, values, is_coalesced = parts
        tensor = sparse_coo_tensor(indices, values, shape, is_coalesced=is_coalesced)
    else:
        compressed, plain, values = parts
        tensor = sparse_compressed_tensor(compressed, plain, values, shape, layout=layout)
    return tensor.requires_grad_(requires_grad)


def init_reductions() -> None:
    """From now on `multiprocessing` sends storages as shared memory."""
    register(UntypedStorage, reduce_storage)
    register(Tensor, reduce_tensor)
    register(Parameter, reduce_tensor)
