"""Random programs on several streams, ordered by events, waits and the host as far as they have to be, and no further.

A program keeps count of what each stream knows of the others, as a happens-before relation is defined: where a use of
memory would not be ordered, it waits in one of the ways that there are. `forgets`: the number of the wait that is
left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import mindtorch as torch

SIZES = (*[(3,), (4, 5), (130,), (33, 9)] * 6, (400, 300), (1100, 500))  # large ones have memory of their own
HALF = 0.5


class Value:
    """A tensor on a device, what its numbers have to be, and who has used it when."""

    def __init__(self, tensor: torch.Tensor, expected: np.ndarray, home: int) -> None:
        self.tensor, self.expected, self.home = tensor, expected, home
        self.writes: dict[int, int] = {}
        self.uses: dict[int, int] = {}


class Program:
    """`streams`: by number, those of the second device last. Run by `run`, which says what was wrong."""

    def __init__(
        self, seed: int, device: Any, forgets: int = -1, quiet: bool = False, devices: int = 1, alone: bool = True
    ) -> None:
        self.source = random.Random(seed)
        self.device, self.forgets, self.waits = device, forgets, 0
        self.alone = alone  # or else other threads might wait for streams that are paused here
        self.quiet = quiet  # nothing is done before the end, and the host waits for nothing
        self.streams = []
        for index in range(devices):
            with torch.npu.device(index):
                made = [torch.npu.Stream() for _ in range(self.source.randint(1, 2))]
                self.streams += [torch.npu.default_stream(), *made]
        self.known: list[dict[int, int]] = [{} for _ in self.streams]
        self.ticks = [0] * len(self.streams)
        self.host: dict[int, int] = {}
        self.values: list[Value] = []
        self.expectations: list[tuple[torch.Tensor, np.ndarray]] = []  # in pinned memory, when all is done
        self.problems: list[str] = []

    # -------------------- who knows what --------------------

    def _join(self, known: dict[int, int], other: dict[int, int]) -> None:
        for stream, tick in other.items():
            known[stream] = max(known.get(stream, 0), tick)

    def _now(self, stream: int) -> dict[int, int]:
        return {**self.known[stream], stream: self.ticks[stream]}

    def use(self, value: Value, stream: int, writes: bool = False) -> None:
        """Before a stream uses a value: wait for the others that must have been there."""
        self._join(self.known[stream], self.host)
        for other, tick in list((value.uses if writes else value.writes).items()):
            if other != stream and self.known[stream].get(other, 0) < tick:
                self.order(stream, other)

    def used(self, value: Value, stream: int, writes: bool = False) -> None:
        self.ticks[stream] += 1
        value.uses[stream] = self.ticks[stream]
        if writes:
            value.writes = {stream: self.ticks[stream]}
            value.uses = {stream: self.ticks[stream]}
        if stream != value.home and self.source.random() < 0.5:
            value.tensor.record_stream(self.streams[stream])
            value.uses.setdefault(-1, 0)

    def order(self, stream: int, other: int, memory: bool = False) -> None:
        """Have a stream come after all that another one was given so far. `memory`: before memory is used again, which
        need not happen, so that such a wait may be missing without harm."""
        self.waits += not memory
        if self.waits - 1 == self.forgets and not memory:
            self._join(self.known[stream], self._now(other))  # as if
            return
        ways = [self._by_event, self._by_stream] + ([] if self.quiet else [self._by_host, self._by_host_event])
        self.source.choice(ways)(stream, other)
        self._join(self.known[stream], self._now(other))

    def _by_event(self, stream: int, other: int) -> None:
        event = torch.npu.Event()
        event.record(self.streams[other])
        self.streams[stream].wait_event(event)

    def _by_stream(self, stream: int, other: int) -> None:
        self.streams[stream].wait_stream(self.streams[other])

    def _by_host(self, stream: int, other: int) -> None:
        self.wait_for(other)

    def _by_host_event(self, stream: int, other: int) -> None:
        self.go_on()
        self.streams[other].record_event().synchronize()
        self._join(self.host, self._now(other))

    def wait_for(self, stream: int) -> None:
        self.go_on()
        self.streams[stream].synchronize()
        self._join(self.host, self._now(stream))

    def go_on(self) -> None:
        self.device.core.sim_pause_all(0)

    # -------------------- statements --------------------

    def new(self, stream: int) -> None:
        """From the host: at once, or from pinned memory that is given up while the copy runs."""
        numbers = np.array([self.source.randint(-9, 9) for _ in range(3)], "f4")
        expected = np.resize(numbers, self.source.choice(SIZES))
        place = f"npu:{self.streams[stream].device_index}"
        if self.quiet or self.source.random() < 0.6:
            host = torch.from_numpy(expected).pin_memory()
            tensor = host.to(place, non_blocking=True)
        else:
            self.go_on()
            tensor = torch.from_numpy(expected).to(place)
            self._join(self.host, self._now(stream))
        value = Value(tensor, expected, stream)
        self.used(value, stream, writes=True)
        self.values.append(value)

    def compute(self, stream: int) -> None:
        """A new value from two of the same shape and device."""
        one, other = self._pair(stream)
        for each in (one, other):
            self.use(each, stream)
        if self.source.random() < 0.5:
            tensor, expected = one.tensor + other.tensor, one.expected + other.expected
        else:
            tensor, expected = torch.maximum(one.tensor, other.tensor), np.maximum(one.expected, other.expected)
        for each in (one, other):
            self.used(each, stream)
        value = Value(tensor * HALF, expected * np.float32(HALF), stream)
        self.used(value, stream, writes=True)
        self.values.append(value)

    def change(self, stream: int) -> None:
        """In place, in a view, or by a copy of another value."""
        one, other = self._pair(stream)
        self.use(one, stream, writes=True)
        kind = self.source.randrange(4)
        if kind == 0 or one is other:  # a copy of itself is no use at all
            one.tensor.mul_(HALF)
            one.expected = one.expected * np.float32(HALF)
        elif kind == 1:
            one.tensor[..., 1:].add_(1)
            one.expected = one.expected.copy()
            one.expected[..., 1:] += 1
        elif kind == 2:
            self.use(other, stream)
            one.tensor.copy_(other.tensor)
            one.expected = other.expected.copy()
            self.used(other, stream)
        else:
            one.tensor.zero_()
            one.expected = np.zeros_like(one.expected)
        self.used(one, stream, writes=True)

    def fetch(self, stream: int) -> None:
        """To the host, at once or by and by."""
        value = self._any(stream)
        self.use(value, stream)
        if self.quiet or self.source.random() < 0.6:
            host = torch.empty(value.expected.shape, pin_memory=True)
            host.copy_(value.tensor, non_blocking=True)
            self.expectations.append((host, value.expected))
            self.used(value, stream)
        else:
            self.used(value, stream)
            self.go_on()
            self._compare(value.tensor.cpu(), value.expected)
            self._join(self.host, self._now(stream))

    def send(self, stream: int) -> None:
        """To the other device: its current stream and that of the source wait for each other."""
        value = self._any(stream)
        index = self.streams[stream].device_index
        others = [each for each, made in enumerate(self.streams) if made.device_index != index]
        if not others:
            return self.fetch(stream)
        target = self.source.choice(others)
        self.use(value, stream)
        with torch.npu.stream(self.streams[target]), torch.npu.stream(self.streams[stream]):
            tensor = value.tensor.to(f"npu:{1 - index}")
        self.used(value, stream)
        self._join(self.known[target], self._now(stream))
        made = Value(tensor, value.expected, target)
        self._join(self.known[target], self.host)
        self._join(self.known[stream], self._now(target))
        self.used(made, target, writes=True)
        self.values.append(made)
        return None

    def drop(self, stream: int) -> None:
        """Give a value up. Who used it must be known to its own stream, unless it was recorded."""
        if len(self.values) < 3:
            return
        value = self.values.pop(self.source.randrange(len(self.values)))
        others = value.tensor._mt_array.root.block.others or ()
        for number in list(value.uses):
            if number >= 0 and number != value.home and self.streams[number]._order not in others:
                self._join(self.known[value.home], self.host)
                if self.known[value.home].get(number, 0) < value.uses[number]:
                    self.order(value.home, number, memory=True)

    def pause(self, stream: int) -> None:
        if self.alone:
            self.device.core.sim_pause_all(1)

    def empty_cache(self, stream: int) -> None:
        if not self.quiet and self.source.random() < 0.2:
            self.go_on()
            torch.npu.empty_cache()

    def _any(self, stream: int) -> Value:
        index = self.streams[stream].device_index
        there = [each for each in self.values if self.streams[each.home].device_index == index]
        if not there:
            self.new(stream)
            there = self.values[-1:]
        return self.source.choice(there)

    def _pair(self, stream: int) -> tuple[Value, Value]:
        one = self._any(stream)
        index = self.streams[stream].device_index
        return one, self.source.choice(
            [
                each
                for each in self.values
                if each.expected.shape == one.expected.shape and self.streams[each.home].device_index == index
            ]
        )

    def _compare(self, found: torch.Tensor, expected: np.ndarray) -> None:
        if not np.array_equal(found.numpy(), expected):
            self.problems.append(f"other numbers: {found.numpy().ravel()[:4]}, not {expected.ravel()[:4]}")

    # -------------------- the whole --------------------

    def run(self, statements: int = 30) -> list[str]:
        """What was wrong, if anything."""
        kinds: list[Callable[[int], None]] = [self.new, self.change, self.fetch, self.drop]
        kinds += [self.compute] * 3 + [self.drop] * 2 + [self.send, self.pause, self.empty_cache]
        if self.quiet:
            self.device.core.sim_pause_all(1)
        for _ in range(statements):
            stream = self.source.randrange(len(self.streams))
            with torch.npu.stream(self.streams[stream]):
                self.source.choice(kinds)(stream)
                if self.quiet:
                    self.device.core.sim_pause_all(1)
        self.go_on()
        for stream in range(len(self.streams)):
            self.wait_for(stream)
        for found, expected in self.expectations:
            self._compare(found, expected)
        for value in self.values:
            with torch.npu.stream(self.streams[value.home]):
                self._compare(value.tensor.cpu(), value.expected)
        return self.problems
