"""One run: its cases in the sizes of its seed, measured, and measured again where they seem too slow."""

import random
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.ops.compare import Pair, compared
from benchmarks.ops.planning import Planner
from benchmarks.ops.recipes import LARGE_ONLY, Recipe, directions_of
from benchmarks.ops.results import Key, Row
from benchmarks.ops.sizes import ELEMENTS, elements_of
from benchmarks.ops.worker import Refused

SLOWER = 1.2  # what fails a check
ATTEMPTS, PATIENCE = 4, 3  # of measuring again what seems to fail, with so many times as many rounds
FURTHEST = 64  # times fewer elements than asked for: then it is no longer this size


@dataclass(frozen=True)
class Choice:
    """Which cases: with a pattern in their names, of every n-th op; some of them, in the seed's order."""

    only: str = ""
    part: int = 1
    parts: int = 1
    sample: int = 0
    minutes: float = 0.0
    seed: int = 0

    @property
    def is_whole(self) -> bool:
        return not (self.only or self.sample or self.minutes or self.parts > 1)

    def of(self, keys: Iterable[Key]) -> list[Key]:
        found = [key for key in keys if re.search(self.only, ", ".join(key))]
        names = set(list(dict.fromkeys(name for name, _, _ in found))[self.part - 1 :: self.parts])
        found = [key for key in found if key[0] in names]
        if self.sample or self.minutes:
            random.Random(self.seed).shuffle(found)
        return found


def all_keys(families: Mapping[str, str]) -> list[Key]:
    """Every size and direction of ops, by name, of these families."""
    return [
        (name, size, direction)
        for name, family in families.items()
        for size in ELEMENTS
        for direction in directions_of(family)
        if size != "small" or direction not in LARGE_ONLY
    ]


class Run:
    """What is compared, the sizes of its seed, and which cases there are not."""

    def __init__(self, pair: Pair, planner: Planner, seed: int):
        self.pair, self.planner, self.seed = pair, planner, seed
        self.recipes: dict[tuple[str, int], tuple[Recipe, int] | None] = {}
        self.refused: dict[Key, str] = {}

    def recipe(self, name: str, elements: int) -> tuple[Recipe, int] | None:
        """The call with about so many elements; None for one that takes too long."""
        if (name, elements) not in self.recipes:
            grower = self.planner.grower(name)
            self.recipes[name, elements] = self.planner.sized(grower, elements) if grower else None
        found = self.recipes[name, elements]
        return found if found and found[1] * FURTHEST >= elements else None

    def row(self, key: Key, elements: int = 0, patience: int = 1) -> Row | None:
        """A measured case, with the elements of this run if none are given; None if there is no such case."""
        name, size, direction = key
        found = self.recipe(name, elements or elements_of(name, size, self.seed))
        if found is None:
            return None
        recipe, reached = found
        try:
            times = compared(self.pair, recipe, direction, patience)
        except Refused as refused:
            self.refused[key] = str(refused)
            return None
        return Row(name, recipe.family, size, direction, reached, times.ours * 1e6, times.theirs * 1e6)

    def rows(self, keys: Sequence[Key], choice: Choice, elements: dict[Key, int]) -> Iterator[Row]:
        """The cases, until there are as many as were asked for, or the time is over."""
        start, count = time.monotonic(), 0
        for number, key in enumerate(keys):
            seconds = time.monotonic() - start
            if seconds > (choice.minutes or 1e9) * 60 or count >= (choice.sample or len(keys)):
                return
            if number % 100 == 0:
                print(f"{number} of {len(keys)}, {seconds:.0f} s", file=sys.stderr, flush=True)
            row = self.row(key, elements.get(key, 0))
            if row is not None:
                count += 1
                yield row

    def again(self, row: Row) -> Row:
        """The row by the best times of this and another attempt."""
        other = self.row(row.key, row.elements, PATIENCE)
        return best_of(row, other) if other else row

    def restart(self) -> None:
        """What follows is measured in new processes, in which things lie elsewhere in memory."""
        for side in self.pair:
            side.worker.close()


def best_of(row: Row, other: Row) -> Row:
    """The fastest times of both."""
    return replace(row, ours=min(row.ours, other.ours), theirs=min(row.theirs, other.theirs))


def slower_rows(run: Run, rows: Iterable[Row], expected: dict[Key, float]) -> list[Row]:
    """The rows that are slower than expected, however often they are measured again.

    What nothing is known about should be as fast as the other library.
    """

    def is_slower(row: Row) -> bool:
        return row.ratio > expected.get(row.key, 1.0) * SLOWER

    left = list(filter(is_slower, rows))
    for _ in range(ATTEMPTS if left else 0):
        run.restart()
        left = list(filter(is_slower, map(run.again, left)))
    return left
