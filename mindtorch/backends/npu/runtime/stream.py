"""Streams and events: the orders in which a device works, and moments in them."""

import threading
import weakref
from ctypes import c_float, c_int32, c_void_p

from mindtorch.backends.npu.runtime import device
from mindtorch.backends.npu.runtime.api import acl, check, out_pointer
from mindtorch.backends.npu.runtime.codes import (
    EVENT_COMPLETE,
    EVENT_SYNC,
    EVENT_TIMING,
    STREAM_COMPLETE,
    STREAM_FAST_LAUNCH,
    STREAM_FAST_SYNC,
)

_alive: weakref.WeakSet = weakref.WeakSet()  # streams and events that are destroyed at exit if they are left


class Stream:
    """An order of work on a device. What is launched on one stream is done one after the other."""

    __slots__ = ("device", "handle", "number", "owned", "__weakref__")

    def __init__(self, index: int, handle: int | None, number: int, owned: bool = True) -> None:
        """`handle`: the runtime's, None for the stream that each device has; `owned`: destroyed with the object."""
        self.device = index
        self.handle = handle
        self.number = number
        self.owned = owned

    def synchronize(self) -> None:
        """Wait until everything on the stream is done."""
        device.use(self.device)
        check(acl.aclrtSynchronizeStream(self.handle), "aclrtSynchronizeStream")

    def is_done(self) -> bool:
        device.use(self.device)
        status, address = out_pointer(c_int32)
        check(acl.aclrtStreamQuery(self.handle, address), "aclrtStreamQuery")
        return status.value == STREAM_COMPLETE

    def wait_for(self, event: "Event") -> None:
        """Do nothing more on the stream before the event has happened. Does not block the caller."""
        if event.handle is not None:
            device.use(self.device)
            check(acl.aclrtStreamWaitEvent(self.handle, event.handle), "aclrtStreamWaitEvent")

    def destroy(self) -> None:
        handle, self.handle = self.handle, None
        if handle is not None and self.owned and device.is_started():
            acl.aclrtDestroyStream(handle)

    def __del__(self) -> None:
        self.destroy()


class Event:
    """A moment on a stream: what was launched there before is done when the event has happened."""

    __slots__ = ("device", "handle", "timed", "__weakref__")

    def __init__(self, timed: bool = False) -> None:
        """Made on the device of the stream that first records it."""
        self.device = -1
        self.handle: int | None = None
        self.timed = timed

    def record(self, stream: Stream) -> None:
        """Happen when the stream has done what it has been given so far; a later call replaces an earlier one."""
        device.use(stream.device)
        if self.handle is None:
            handle, address = out_pointer(c_void_p)
            flags = EVENT_SYNC | EVENT_TIMING if self.timed else EVENT_SYNC
            check(acl.aclrtCreateEventExWithFlag(address, flags), "aclrtCreateEventExWithFlag")
            self.handle, self.device = handle.value, stream.device
            _alive.add(self)
        elif self.device != stream.device:
            raise RuntimeError(f"Event device {self.device} does not match recording stream's device {stream.device}.")
        check(acl.aclrtRecordEvent(self.handle, stream.handle), "aclrtRecordEvent")

    def is_done(self) -> bool:
        """Whether it has happened; one that was never recorded has."""
        if self.handle is None:
            return True
        device.use(self.device)
        status, address = out_pointer(c_int32)
        check(acl.aclrtQueryEventStatus(self.handle, address), "aclrtQueryEventStatus")
        return status.value == EVENT_COMPLETE

    def synchronize(self) -> None:
        if self.handle is not None:
            device.use(self.device)
            check(acl.aclrtSynchronizeEvent(self.handle), "aclrtSynchronizeEvent")

    def milliseconds_until(self, later: "Event") -> float:
        """How long after this event a later one happened. Both have to have happened, with `timed`."""
        device.use(self.device)
        elapsed, address = out_pointer(c_float)
        check(acl.aclrtEventElapsedTime(address, self.handle, later.handle), "aclrtEventElapsedTime")
        return elapsed.value

    def destroy(self) -> None:
        handle, self.handle = self.handle, None
        if handle is not None and device.is_started():
            acl.aclrtDestroyEvent(handle)

    def __del__(self) -> None:
        self.destroy()


# -------------------- the streams of a device --------------------


class _Thread(threading.local):
    def __init__(self) -> None:
        self.current: dict[int, Stream] = {}  # by device, where it is not the default stream


_thread = _Thread()
_defaults: dict[int, Stream] = {}
_last_number = 0
_lock = threading.Lock()


def default(index: int) -> Stream:
    """The stream that a device has from the start."""
    found = _defaults.get(index)
    return found if found is not None else _defaults.setdefault(index, Stream(index, None, 0, owned=False))


def current(index: int) -> Stream:
    """The stream on which this thread launches."""
    return _thread.current.get(index) or default(index)


def set_current(stream: Stream) -> None:
    _thread.current[stream.device] = stream


def new(index: int) -> Stream:
    """A further stream."""
    global _last_number
    device.use(index)
    handle, address = out_pointer(c_void_p)
    flags = STREAM_FAST_LAUNCH | STREAM_FAST_SYNC
    check(acl.aclrtCreateStreamWithConfig(address, 0, flags), "aclrtCreateStreamWithConfig")
    with _lock:
        _last_number += 1
        number = _last_number
    stream = Stream(index, handle.value, number)
    _alive.add(stream)
    return stream


def _destroy_all() -> None:
    kinds = (Event, Stream)  # events first: they may be of the streams
    for each in sorted(_alive, key=lambda each: kinds.index(type(each))):
        each.destroy()
    _thread.current.clear()


device.at_exit.append(_destroy_all)
