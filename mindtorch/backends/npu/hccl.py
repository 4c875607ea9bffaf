"""HCCL: communicators of devices, and what they do on a stream."""

import threading
import weakref
from collections.abc import Sequence
from ctypes import Structure, byref, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p, sizeof
from typing import Any

import numpy as np

from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.runtime import device
from mindtorch.backends.npu.runtime.api import acl, failed, ignore, out_pointer, recent_message, tag
from mindtorch.backends.npu.runtime.codes import SUCCESS
from mindtorch.backends.npu.runtime.stream import new

_ROOT_INFO = 4108
DTYPES = {
    "int8": 0,
    "int16": 1,
    "int32": 2,
    "float16": 3,
    "float32": 4,
    "int64": 5,
    "uint64": 6,
    "uint8": 7,
    "bool": 7,
    "uint16": 8,
    "uint32": 9,
    "float64": 10,
    "bfloat16": 11,
}
SUM, PRODUCT, MAX, MIN = range(4)
LOST_PEER = 507048  # what streams report when those that they wait for are gone
REMOTE = 21  # the asynchronous error of a process that is no more
SEND, RECEIVE = 0, 1


class HcclError(Exception):
    """A call that has not begun."""

    def __init__(self, call: str, code: int) -> None:
        self.code = code
        text = f"HCCL function error: {call}, error code is {code}\n{tag('02200', 'DIST call hccl api failed.')}"
        super().__init__("\n".join(filter(None, (text, recent_message()))))


class _Message(Structure):
    """`HcclSendRecvItem`"""

    _fields_ = (("kind", c_int32), ("memory", c_void_p), ("count", c_uint64), ("dtype", c_int32), ("peer", c_uint32))


class _Config(Structure):
    """`HcclCommConfig`, as far as all versions have it. What is not set has all its bits."""

    _fields_ = (
        ("size", c_size_t),
        ("magic", c_uint32),
        ("version", c_uint32),
        ("reserved", c_uint64),
        ("buffer_size", c_uint32),
        ("deterministic", c_uint32),
        ("name", c_char * 128),
    )


_NOT_SET = 0xFFFFFFFF
_NAME = 2  # the capability


def _config(name: str) -> _Config:
    size = sizeof(_Config) if acl.HcclGetCommConfigCapability() > _NAME else _Config.name.offset
    return _Config(size, 0xF0F0F0F0, 2, 0, _NOT_SET, _NOT_SET, name.encode()[:127])


def root_info(index: int) -> bytes:
    """What the first process makes on its device, and all have to have to find each other."""
    device.use(index)
    info = (c_char * _ROOT_INFO)()
    _check(acl.HcclGetRootInfo(info), "HcclGetRootInfo")
    return info.raw


def _check(code: int, call: str) -> None:
    if code != SUCCESS:
        raise HcclError(call, code)


def dtype_code(dtype: np.dtype) -> int:
    """A dtype in HCCL's numbers."""
    if dtype.name not in DTYPES:
        raise RuntimeError("Unsupported data type for HCCL process group")
    return DTYPES[dtype.name]


_all: weakref.WeakSet = weakref.WeakSet()


class Communicator:
    """Devices of several processes, this one's among them. Nothing that it starts is waited for."""

    def __init__(self, info: bytes, size: int, rank: int, index: int, name: str) -> None:
        """Comes back when all have called it."""
        device.use(index)
        self.index = index
        handle, address = out_pointer(c_void_p)
        arguments = size, c_char_p(info), rank, byref(_config(name)), address
        _check(acl.HcclCommInitRootInfoConfig(*arguments), "HcclCommInitRootInfoConfig")
        self.handle: int | None = handle.value
        self.stream = new(index)
        self._lock = threading.Lock()
        _all.add(self)

    # -------------------- collectives --------------------

    def run(self, name: str, *arguments: Any) -> None:
        """A collective on the communicator's stream; arrays become addresses, and may be given back at any time."""
        device.use(self.index)
        taken = [self._address(each) if type(each) is NpuArray else each for each in arguments]
        with self._lock:
            _check(getattr(acl, name)(*taken, self.handle, self.stream.handle), name)

    def messages(self, items: Sequence[tuple[int, NpuArray, int]]) -> None:
        """Messages to and from others, in any order: kind, memory and peer of each."""
        chosen = [each for each in items if each[1].size]
        if not chosen:
            return
        table = (_Message * len(chosen))(
            *[
                _Message(kind, self._address(memory), memory.size, dtype_code(memory.dtype), peer)
                for kind, memory, peer in chosen
            ]
        )
        self.run("HcclBatchSendRecv", byref(table), len(chosen))

    def _address(self, array: NpuArray) -> int:
        """Its memory is not used again before the communicator's stream is done with it."""
        array.root.used_on(self.stream)
        return array.root.address + array.byte_offset

    # -------------------- errors and the end --------------------

    def error(self) -> int:
        """The code of what has gone wrong since; 0 if nothing has."""
        device.use(self.index)
        code, address = out_pointer(c_int)
        _check(acl.HcclGetCommAsyncError(self.handle, address), "HcclGetCommAsyncError")
        return code.value

    def give_up(self, reason: str) -> None:
        """End what the communicator's stream is doing, and with it the use of the device in this process.

        What waits for the stream goes on without its result, so nothing must be read from the device any more.
        """
        if self.index not in failed:
            device.use(self.index)
            failed[self.index] = LOST_PEER, reason
            ignore(acl.aclrtStreamAbort(self.stream.handle))

    def destroy(self) -> None:
        """Give it back, after what it has begun."""
        handle, self.handle = self.handle, None
        if handle is not None and device.is_started():
            device.use(self.index)
            self.stream.synchronize()
            _check(acl.HcclCommDestroy(handle), "HcclCommDestroy")


def error_text(code: int) -> str:
    """What HCCL calls an error."""
    return (acl.HcclGetErrorString(code) or b"").decode()


def _destroy_all() -> None:
    for each in list(_all):
        handle, each.handle = each.handle, None
        if handle is not None:
            ignore(acl.HcclCommDestroy(handle))


device.at_exit.append(_destroy_all)
device.after_fork.append(_all.clear)
