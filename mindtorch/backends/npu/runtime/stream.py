"""Streams and events: the orders in which a device works, and moments in them."""

import threading
import weakref
from collections import deque
from ctypes import c_float, c_int32, c_void_p

from mindtorch.backends.npu.runtime import device
from mindtorch.backends.npu.runtime.api import acl, active, check, failed, ignore, out_pointer
from mindtorch.backends.npu.runtime.codes import (
    EVENT_COMPLETE,
    EVENT_SYNC,
    EVENT_TIMING,
    STREAM_COMPLETE,
    STREAM_FAST_LAUNCH,
    STREAM_FAST_SYNC,
)

_alive: weakref.WeakSet = weakref.WeakSet()  # events that are destroyed at exit if they are left
_dead: deque[tuple[int, int]] = deque()  # device and handle of events whose end came where another device was meant


class Stream:
    """An order of work on a device. What is launched on one stream is done one after the other."""

    __slots__ = ("device", "handle", "number", "__weakref__")

    def __init__(self, index: int, handle: int | None, number: int) -> None:
        """`handle`: the runtime's, None for the stream that each device has."""
        self.device = index
        self.handle = handle
        self.number = number

    def synchronize(self) -> None:
        """Wait until everything on the stream is done."""
        device.use(self.device)
        check(acl.aclrtSynchronizeStream(self.handle), "aclrtSynchronizeStream")
        device.use(self.device)  # again: work that another thread has given up meanwhile ends without its result

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
            _bury()
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
            device.use(self.device)

    def milliseconds_until(self, later: "Event") -> float:
        """How long after this event a later one happened. Both have to have happened, with `timed`."""
        device.use(self.device)
        elapsed, address = out_pointer(c_float)
        check(acl.aclrtEventElapsedTime(address, self.handle, later.handle), "aclrtEventElapsedTime")
        return elapsed.value

    def __del__(self) -> None:
        """May come on any thread, between any two calls: it must not change the device that these mean."""
        if self.handle is not None and not device.is_forked():
            if active.index == self.device and device.is_started():
                ignore(acl.aclrtDestroyEvent(self.handle))
            else:
                _dead.append((self.device, self.handle))


def _bury() -> None:
    """Destroy the events whose end came at another time, as far as they are of the device that is meant now."""
    for _ in range(len(_dead)):
        try:
            index, handle = _dead.popleft()
        except IndexError:  # another thread was here
            return
        if index == active.index:
            ignore(acl.aclrtDestroyEvent(handle))
        else:
            _dead.append((index, handle))


def bury_all() -> None:
    """Destroy them all, on whichever device; those of one that has failed stay."""
    for index in {index for index, _ in list(_dead)}.difference(failed):
        device.use(index)
        _bury()


# -------------------- the streams of a device --------------------


class _Current(dict[int, Stream]):
    """The streams of a thread, by device: the default ones if nothing else was chosen."""

    def __missing__(self, index: int) -> Stream:
        self[index] = default(index)
        return self[index]


class _Thread(threading.local):
    def __init__(self) -> None:
        self.current = _Current()


_thread = _Thread()
_defaults: dict[int, Stream] = {}
# A device has a limited number of streams, and each keeps memory for itself: so programs that ask for one again and
# again, as for each batch, get these in turn.
_MOST = 32
_made: dict[int, deque[Stream]] = {}
_lock = threading.Lock()


def default(index: int) -> Stream:
    """The stream that a device has from the start."""
    found = _defaults.get(index)
    return found if found is not None else _defaults.setdefault(index, Stream(index, None, 0))


def current(index: int) -> Stream:
    """The stream on which this thread launches."""
    return _thread.current[index]


def set_current(stream: Stream) -> None:
    _thread.current[stream.device] = stream


def new(index: int) -> Stream:
    """A further stream; after so many of them, those that there are again."""
    device.use(index)
    with _lock:
        made = _made.setdefault(index, deque())
        if len(made) < _MOST:
            made.append(_create(index, len(made) + 1))
        else:
            made.rotate(-1)
        return made[-1]


def _create(index: int, number: int) -> Stream:
    handle, address = out_pointer(c_void_p)
    flags = STREAM_FAST_LAUNCH | STREAM_FAST_SYNC
    check(acl.aclrtCreateStreamWithConfig(address, 0, flags), "aclrtCreateStreamWithConfig")
    return Stream(index, handle.value, number)


def _destroy_all() -> None:
    """Events first: they may be of the streams."""
    events = _left()
    for index in device.each_used():
        _bury()
        for event in events:
            if event.device == index and event.handle is not None:
                ignore(acl.aclrtDestroyEvent(event.handle))
                event.handle = None
        for stream in _made.pop(index, ()):
            ignore(acl.aclrtDestroyStream(stream.handle))
            stream.handle = None
    _thread.current.clear()


def _left() -> list[Event]:
    while True:
        try:
            return list(_alive)
        except RuntimeError:  # a thread that has not noticed the end has just made one
            continue


device.at_exit.append(_destroy_all)
device.after_fork += [_alive.clear, _dead.clear]
