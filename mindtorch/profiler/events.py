"""What a profiler has seen: calls with their times, what is said of all calls of one op, and the table of that."""

from __future__ import annotations

import json
from collections import UserList
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

_HEADERS = "Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"
_GAP = 2


def time_text(microseconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


@dataclass(slots=True, eq=False)
class FunctionEvent:
    """One call of an op, or one block that has a name. Times are in microseconds."""

    name: str
    start: float
    input_shapes: list
    cpu_parent: FunctionEvent | None
    is_user_annotation: bool = False
    end: float = 0.0
    cpu_children: list[FunctionEvent] = field(default_factory=list)

    count = 1

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return self.end - self.start

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)


@dataclass(slots=True)
class FunctionEventAvg:
    """All calls of an op together."""

    key: str
    input_shapes: list | str = ""
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    is_user_annotation: bool = False

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        self.count += other.count
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_time_total += other.cpu_time_total
        self.is_user_annotation |= other.is_user_annotation
        return self


class EventList(UserList):
    """Events, or averages of them."""

    @property
    def self_cpu_time_total(self) -> float:
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """One entry for each op, or for each op and shapes of its inputs."""
        found: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            group = (event.key, str(event.input_shapes) if group_by_input_shape else "")
            entry = found.setdefault(group, FunctionEventAvg(event.key))
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
        text = _aligned(rows) + f"\nSelf CPU time total: {time_text(self.self_cpu_time_total)}\n"
        return text if header is None else f"{header}\n{text}"

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a file that chrome://tracing shows."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [_as_trace(event) for event in self]}, file)

    def __str__(self) -> str:
        return self.table()


def _sort_key(sort_by: str) -> Callable[[Any], float]:
    """torch has times of devices as well: they are 0 here."""
    return lambda event: getattr(event, sort_by, 0.0)


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


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(_HEADERS, *rows, strict=True)]
    line = "".join("-" * width + " " * _GAP for width in widths)
    lines = ["".join(cell.rjust(width) + " " * _GAP for cell, width in zip(row, widths, strict=True)) for row in rows]
    heading = "".join(cell.rjust(width) + " " * _GAP for cell, width in zip(_HEADERS, widths, strict=True))
    return "\n".join((line, heading, line, *lines, line))


def _as_trace(event: FunctionEvent) -> dict[str, Any]:
    category = "user_annotation" if event.is_user_annotation else "cpu_op"
    times = {"ts": event.start, "dur": event.cpu_time_total}
    return {"ph": "X", "cat": category, "name": event.name, "pid": 0, "tid": 0, **times, "args": {}}
