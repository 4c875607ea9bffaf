"""How long the kernels of NPUs run: an event before each launch and one behind it."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from mindtorch.backends.npu.launch import settings
from mindtorch.backends.npu.runtime import stream
from mindtorch.backends.npu.runtime.stream import Event


class Launch(NamedTuple):
    """A kernel, and the call of an op that launched it; times are in microseconds."""

    name: str
    device_index: int
    stream: int
    start: float
    duration: float
    caller: Any


class KernelWatch:
    """Notes the launches of a block. `caller` gives what is running at the moment."""

    def __init__(self, caller: Callable[[], Any]) -> None:
        self._caller = caller
        self._noted: list[tuple] = []
        self._first: dict[int, tuple[float, Event]] = {}  # of each device: the clock of the CPU, and the event then

    def start(self) -> None:
        settings.watch = self

    def stop(self) -> None:
        settings.watch = None

    def begin(self, index: int) -> Event:
        """A launch comes: put an event before it on its stream."""
        begun = Event(timed=True)
        begun.record(stream.current(index))
        if index not in self._first:
            begun.synchronize()  # or what comes on other streams could be earlier
            self._first[index] = time.perf_counter_ns() / 1e3, begun
        return begun

    def end(self, name: str, index: int, begun: Event) -> None:
        """The kernel of this name was launched: put an event behind it."""
        own, ended = stream.current(index), Event(timed=True)
        ended.record(own)
        self._noted.append((name, index, own.number, begun, ended, self._caller()))

    def launches(self) -> list[Launch]:
        """What was launched, with times; waits for it."""
        return [self._measured(*noted) for noted in self._noted]

    def _measured(self, name: str, index: int, number: int, begun: Event, ended: Event, caller: Any) -> Launch:
        ended.synchronize()
        clock, first = self._first[index]
        since = first.milliseconds_until(begun) * 1e3 if begun is not first else 0.0
        return Launch(name, index, number, clock + since, begun.milliseconds_until(ended) * 1e3, caller)
