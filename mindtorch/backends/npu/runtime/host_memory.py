"""Pinned memory: memory of the CPU that devices copy to and from while programs go on.

It is asked of the runtime in sizes that are powers of two, and kept for the next that needs as much. What a device
may still be copying is not given out again before it has.
"""

import threading
from collections import deque
from ctypes import c_void_p
from typing import Any

import numpy as np

from mindtorch.backends.npu.runtime import device
from mindtorch.backends.npu.runtime.api import acl, check, out_pointer
from mindtorch.backends.npu.runtime.stream import Event, Stream


class PinnedMemory:
    """Memory of the CPU from the runtime, for the array interface, which keeps it alive as long as there are arrays."""

    __slots__ = ("address", "size", "events", "__array_interface__", "__weakref__")

    def __init__(self, address: int, size: int, nbytes: int) -> None:
        self.address = address
        self.size = size
        self.events: list[Event] = []
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (nbytes,), "data": (address, False)}

    def used_by(self, stream: Stream) -> None:
        """Note that a stream has been given a copy from or to the memory."""
        event = Event()
        event.record(stream)
        self.events = [each for each in self.events if not each.is_done()] + [event]

    def __del__(self) -> None:
        _released.append((self.address, self.size, self.events))


_lock = threading.Lock()
_released: deque[tuple[int, int, list[Event]]] = deque()  # filled by any thread, at any moment
_free: dict[int, list[int]] = {}  # addresses by size
_all: dict[int, int] = {}  # sizes by address


def pinned(nbytes: int, index: int) -> np.ndarray:
    """So many bytes, not initialised; `index` is the device whose runtime gives them."""
    size = max(1 << (nbytes - 1).bit_length(), 512) if nbytes else 512
    with _lock:
        _look_at_events()
        free = _free.get(size)
        address = free.pop() if free else _ask(size, index)
    return np.asarray(PinnedMemory(address, size, nbytes))


def _ask(size: int, index: int) -> int:
    device.use(index)
    memory, address = out_pointer(c_void_p)
    check(acl.aclrtMallocHost(address, size), "aclrtMallocHost")
    _all[memory.value or 0] = size
    return memory.value or 0


def _look_at_events() -> None:
    for _ in range(len(_released)):
        address, size, events = _released.popleft()
        left = [event for event in events if not event.is_done()]
        if left:
            _released.append((address, size, left))
        else:
            _free.setdefault(size, []).append(address)


def memory_under(array: Any) -> PinnedMemory | None:
    """The pinned memory that an array lies in, if it does."""
    base = array
    while base is not None and type(base) is not PinnedMemory:
        base = getattr(base, "base", None)
    return base


def empty() -> None:
    """Give the runtime back what no array lies in."""
    with _lock:
        _look_at_events()
        for addresses in _free.values():
            for address in addresses:
                check(acl.aclrtFreeHost(address), "aclrtFreeHost")
                del _all[address]
        _free.clear()


def counts() -> tuple[int, int]:
    """How many pieces of pinned memory there are, and how many bytes."""
    return len(_all), sum(_all.values())


def _close() -> None:
    for address in _all:
        acl.aclrtFreeHost(address)
    _all.clear()
    _free.clear()


device.at_exit.insert(0, _close)  # the last thing but the devices themselves
