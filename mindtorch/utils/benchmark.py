"""`Timer`: how long a statement takes, by Python's timeit, and the texts that show it."""

from __future__ import annotations

import sys
import timeit
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import Any

from mindtorch._core.threads import get_num_threads, set_num_threads

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)

__all__ = ["Compare", "Measurement", "Timer"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(slots=True)
class Measurement:
    """The times of some runs of a statement, in seconds."""

    number_per_run: int
    raw_times: list[float]
    title: str
    description: str | None = None
    num_threads: int = 1

    @property
    def times(self) -> list[float]:
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def median(self) -> float:
        return median(self.times)

    @property
    def mean(self) -> float:
        return mean(self.times)

    @property
    def iqr(self) -> float:
        """The distance of the quartiles."""
        if len(self.raw_times) < 2:
            return 0.0
        first, _, third = quantiles(self.times, method="inclusive")
        return third - first

    def __repr__(self) -> str:
        runs = len(self.raw_times)
        measured = f"  {_text(self.median)}\n  " if runs == 1 else f"  Median: {_text(self.median)}\n  "
        count = "1 measurement" if runs == 1 else f"{runs} measurements"
        threads = f"{self.num_threads} thread" + "s" * (self.num_threads != 1)
        numbers = f"{measured}{count}, {self.number_per_run} runs , {threads}"
        return f"<mindtorch.utils.benchmark.Measurement>\n{self.title}\n{numbers}"


def _text(seconds: float) -> str:
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), _UNITS[-1])
    return f"{seconds / size:.2f} {unit}"


class Timer:
    """Takes the time of a statement, on one thread unless another number is asked for."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Any = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = None,
    ) -> None:
        if str(language).lower() not in ("none", "python", "py", "language.python", "0"):
            raise NotImplementedError(f"statements are Python here: language={language!r} is not compiled")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        self._timer = timeit.Timer(stmt, setup, timer, globals)
        self._title = ": ".join(part for part in (label or stmt, sub_label) if part)
        self._description = description
        self._num_threads = num_threads

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of `number` runs, after some that are not counted."""
        return self._measured(number, 1, max(number // 100, 2))

    def repeat(self, repeat: int = -1, number: int = -1) -> Measurement:
        return self._measured(max(number, 1), max(repeat, 1), 2)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """As many blocks of runs as fit in the time; a block is so long that the clock does not matter.

        `callback(number, seconds)` is told of each block.
        """
        number, spent = 1, 0.0
        while (spent := self._time(number)) < min_run_time / 1000 and number < 10**7:
            number *= 10
        measured = self._measured(number, max(1, int(min_run_time / max(spent, 1e-9))), 0)
        for seconds in measured.raw_times if callback else ():
            callback(number, seconds)
        return measured

    adaptive_autorange = blocked_autorange

    def _time(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            return self._timer.timeit(number)
        finally:
            set_num_threads(before)

    def _measured(self, number: int, runs: int, warmup: int) -> Measurement:
        self._time(warmup)
        times = [self._time(number) for _ in range(runs)]
        return Measurement(number, times, self._title, self._description, self._num_threads)


class Compare:
    """Several measurements as a table."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results = list(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        self._results.extend(results)

    def print(self) -> None:
        sys.stdout.write(f"{self}\n")

    def __str__(self) -> str:
        rows = [(each.title, each.description or "", _text(each.median)) for each in self._results]
        widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
        return "\n".join("  |  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows)
