"""Pinned memory: memory of the CPU that devices copy to and from while programs go on.

It is asked of the runtime in sizes that are powers of two, and kept for the next that needs as much. What a device
may still be copying is not given out again before it has.
"""

import threading
from collections import deque
from contextlib import suppress
from ctypes import c_void_p
from typing import Any

import numpy as np

from mindtorch._core.buffers import Block
from mindtorch.backends.npu.runtime import device
from mindtorch.backends.npu.runtime.api import acl, check, ignore, out_pointer
from mindtorch.backends.npu.runtime.stream import Event, Stream


class PinnedMemory:
    """Memory of the CPU from the runtime, for the array interface, which keeps it alive as long as there are arrays."""

    __slots__ = ("address", "size", "events", "is_lost", "__array_interface__", "__weakref__")

    def __init__(self, address: int, size: int, nbytes: int) -> None:
        self.address = address
        self.size = size
        self.events: list[Event] = []
        self.is_lost = False
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (nbytes,), "data": (address, False)}

    def used_by(self, stream: Stream) -> None:
        """Note that a stream has been given a copy from or to the memory."""
        event = Event()
        try:
            event.record(stream)
            self.events = [each for each in self.events if not each.is_done()] + [event]
        except RuntimeError:  # then nothing tells when the copy is done, unless it is waited for
            self.is_lost = True
            with suppress(RuntimeError):
                stream.synchronize()
                self.is_lost = False
            raise

    def __del__(self) -> None:
        if not self.is_lost:  # or else it stays until the process ends
            _released.append((self.address, self.size, self.events))


_lock = threading.Lock()
_released: deque[tuple[int, int, list[Event]]] = deque()  # filled by any thread, at any moment
_free: dict[int, list[int]] = {}  # addresses by size
_all: dict[int, int] = {}  # sizes by address


def pinned(nbytes: int, index: int) -> np.ndarray:
    """So many bytes, not initialised; `index` is the device whose runtime gives them."""
    size = max(1 << (nbytes - 1).bit_length(), 512) if nbytes else 512
    device.use(index)
    with _lock:
        _look_at_events()
        free = _free.get(size)
        address = free.pop() if free else _ask(size)
    return np.asarray(PinnedMemory(address, size, nbytes))


def _ask(size: int) -> int:
    memory, address = out_pointer(c_void_p)
    check(acl.aclrtMallocHost(address, size), "aclrtMallocHost")
    _all[memory.value or 0] = size
    return memory.value or 0


def _look_at_events() -> None:
    for _ in range(len(_released)):
        address, size, events = _released[0]  # which stays there if the runtime refuses to answer
        left = [event for event in events if not event.is_done()]
        _released.popleft()
        if left:
            _released.append((address, size, left))
        else:
            _free.setdefault(size, []).append(address)


def memory_under(array: Any) -> PinnedMemory | None:
    """The pinned memory that an array lies in, if it does."""
    base = array
    while base is not None and type(base) is not PinnedMemory:
        base = base.array if type(base) is Block else getattr(base, "base", None)
    return base


def empty() -> None:
    """Give the runtime back what no array lies in."""
    if not _all:
        return
    device.use(device.current())
    with _lock:
        _look_at_events()
        for addresses in _free.values():
            while addresses:
                check(acl.aclrtFreeHost(addresses[-1]), "aclrtFreeHost")
                del _all[addresses.pop()]


def counts() -> tuple[int, int]:
    """How many pieces of pinned memory there are, and how many bytes."""
    return len(_all), sum(_all.values())


def _close() -> None:
    for address in _all:
        ignore(acl.aclrtFreeHost(address))
    for kept in (_all, _free, _released):
        kept.clear()


device.after_fork.append(_all.clear)
device.at_exit.insert(0, _close)  # the last thing but the devices themselves
