"""What a profiler has seen: calls with their times, what is said of all calls of one op, and the table of that."""

from __future__ import annotations

import gzip
import json
import os
from collections import UserList
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_HEADERS = "Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"
_DEVICE_HEADERS = "Self {}", "Self {} %", "{} total", "{} time avg"
_GAP = 2


def time_text(microseconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class Kernel(NamedTuple):
    """What an op has launched on a device; the time is in microseconds."""

    name: str
    device: int
    duration: float


@dataclass(slots=True, eq=False)
class FunctionEvent:
    """One call of an op, one block that has a name, or one kernel on a device. Times are in microseconds."""

    name: str
    start: float
    input_shapes: list
    cpu_parent: FunctionEvent | None
    is_user_annotation: bool = False
    end: float = 0.0
    cpu_children: list[FunctionEvent] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    device_type: str = "cpu"
    device_index: int = 0
    stream: int = 0

    count = 1

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return self.end - self.start if self.device_type == "cpu" else 0.0

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def device_time_total(self) -> float:
        """How long kernels ran that the call launched, or this one."""
        children = sum(child.device_time_total for child in self.cpu_children)
        return self.self_device_time_total + children

    device_time = device_time_total

    @property
    def self_device_time_total(self) -> float:
        if self.device_type != "cpu":
            return self.end - self.start
        return sum(kernel.duration for kernel in self.kernels)


@dataclass(slots=True)
class FunctionEventAvg:
    """All calls of an op together."""

    key: str
    input_shapes: list | str = ""
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    is_user_annotation: bool = False
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    device_type: str = "cpu"

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        return self.device_time_total / self.count if self.count else 0.0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        self.count += other.count
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_time_total += other.cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.is_user_annotation |= other.is_user_annotation
        return self


class EventList(UserList):
    """Events, or averages of them."""

    @property
    def self_cpu_time_total(self) -> float:
        return sum(event.self_cpu_time_total for event in self)

    @property
    def device_types(self) -> list[str]:
        """The types of devices that kernels ran on."""
        return sorted({event.device_type for event in self} - {"cpu"})

    @property
    def self_device_time_total(self) -> float:
        """How long kernels ran."""
        return sum(event.self_device_time_total for event in self if event.device_type != "cpu")

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """One entry for each op, or for each op and shapes of its inputs."""
        found: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            group = (event.key, str(event.input_shapes) if group_by_input_shape else "")
            entry = found.setdefault(group, FunctionEventAvg(event.key, device_type=event.device_type))
            if group_by_input_shape:
                entry.input_shapes = event.input_shapes
            entry.add(event)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as a text, the most expensive first if `sort_by` says by which time."""
        events: Iterable = self
        if sort_by is not None:
            events = sorted(self, key=_sort_key(sort_by), reverse=True)
        if top_level_events_only:
            events = (event for event in events if getattr(event, "cpu_parent", None) is None)
        total = self.self_cpu_time_total or 1.0
        shown = list(events)[: row_limit if row_limit > 0 else None]
        rows = [_row(event, total, max_name_column_width) for event in shown]
        headers: tuple[str, ...] = _HEADERS
        ends = [f"Self CPU time total: {time_text(self.self_cpu_time_total)}"]
        for name in map(str.upper, self.device_types):
            headers = (*headers[:-1], *(each.format(name) for each in _DEVICE_HEADERS), headers[-1])
            on_device = self.self_device_time_total or 1.0
            rows = [(*row[:-1], *_device_cells(each, on_device), row[-1]) for row, each in zip(rows, shown)]
            ends.append(f"Self {name} time total: {time_text(self.self_device_time_total)}")
        text = "\n".join((_aligned(headers, rows), *ends, ""))
        return text if header is None else f"{header}\n{text}"

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events as a file that chrome://tracing shows, compressed if its name ends with `.gz`."""
        with (gzip.open if os.fspath(path).endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
            json.dump({"traceEvents": [_as_trace(event) for event in self]}, file)

    def __str__(self) -> str:
        return self.table()


def _sort_key(sort_by: str) -> Callable[[Any], float]:
    """By a time of the CPU or of a device, whose type may be in the name."""
    name = sort_by.replace("cuda", "device").replace("npu", "device")
    return lambda event: getattr(event, name, 0.0)


def _device_cells(event: Any, total: float) -> tuple[str, ...]:
    return (
        time_text(event.self_device_time_total),
        f"{100 * event.self_device_time_total / total:.2f}%",
        time_text(event.device_time_total),
        time_text(event.device_time),
    )


def _row(event: Any, total: float, width: int) -> tuple[str, ...]:
    name = event.key if len(event.key) < width else event.key[: width - 3] + "..."
    return (
        name,
        f"{100 * event.self_cpu_time_total / total:.2f}%",
        time_text(event.self_cpu_time_total),
        f"{100 * event.cpu_time_total / total:.2f}%",
        time_text(event.cpu_time_total),
        time_text(event.cpu_time),
        str(event.count),
    )


def _aligned(headers: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    line = "".join("-" * width + " " * _GAP for width in widths)
    lines = ["".join(cell.rjust(width) + " " * _GAP for cell, width in zip(row, widths, strict=True)) for row in rows]
    heading = "".join(cell.rjust(width) + " " * _GAP for cell, width in zip(headers, widths, strict=True))
    return "\n".join((line, heading, line, *lines, line))


def _as_trace(event: FunctionEvent) -> dict[str, Any]:
    category = "user_annotation" if event.is_user_annotation else "cpu_op"
    times = {"ts": event.start, "dur": event.end - event.start}
    place: dict[str, Any] = {"pid": 0, "tid": 0}
    if event.device_type != "cpu":
        category = "kernel"
        place = {"pid": f"{event.device_type}:{event.device_index}", "tid": event.stream}
    return {"ph": "X", "cat": category, "name": event.name, **place, **times, "args": {}}
