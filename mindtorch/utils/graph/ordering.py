"""The order of the boxes and bends within the rows of a layout, with few crossings of arrows."""

from bisect import bisect_right, insort
from collections import defaultdict
from typing import TypeAlias

_SWEEPS = 24
_PATIENCE = 6  # sweeps that make it no better

Item: TypeAlias = "str | tuple[str, int]"  # a box, or the bend of its arrows in a row
Rows: TypeAlias = list[list[Item]]


class Links:
    """Which items of neighbouring rows are joined by an arrow."""

    def __init__(self) -> None:
        self.above: defaultdict[Item, list[Item]] = defaultdict(list)
        self.below: defaultdict[Item, list[Item]] = defaultdict(list)

    def add(self, upper: Item, lower: Item) -> None:
        self.above[lower].append(upper)
        self.below[upper].append(lower)


def ordered(rows: Rows, links: Links) -> None:
    """Sort each row by the mean position of the neighbours, downwards and upwards in turn; the best order is kept."""
    best, fewest, since = [list(row) for row in rows], crossings(rows, links), 0
    for sweep in range(_SWEEPS):
        if not fewest or since == _PATIENCE:
            break
        _sweep(rows, links.above if sweep % 2 == 0 else links.below, downwards=sweep % 2 == 0)
        count, since = crossings(rows, links), since + 1
        if count < fewest:
            best, fewest, since = [list(row) for row in rows], count, 0
    rows[:] = best


def _sweep(rows: Rows, neighbours: dict[Item, list[Item]], downwards: bool) -> None:
    position: dict[Item, float] = {item: place for row in rows for place, item in enumerate(row)}
    for row in rows if downwards else rows[::-1]:
        for item in row:
            near = neighbours.get(item)
            if near:
                position[item] = sum(position[each] for each in near) / len(near)
        row.sort(key=position.__getitem__)
        position.update((item, place) for place, item in enumerate(row))


def crossings(rows: Rows, links: Links) -> int:
    """How many pairs of arrows cross between the rows."""
    return sum(_crossings_below(row, below, links) for row, below in zip(rows, rows[1:]))


def _crossings_below(row: list[Item], below: list[Item], links: Links) -> int:
    place = {item: number for number, item in enumerate(below)}
    ends: list[int] = []  # of the arrows so far, sorted
    count = 0
    for item in row:
        own = sorted(place[each] for each in links.below[item])
        count += sum(len(ends) - bisect_right(ends, end) for end in own)
        for end in own:
            insort(ends, end)
    return count
