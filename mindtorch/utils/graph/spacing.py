"""Where the boxes and bends of a layout are within their rows, whose order is given."""

from collections.abc import Mapping
from itertools import accumulate

from mindtorch.utils.graph.ordering import Item, Links, Rows

_GAP = 22.0
_BEND_WIDTH = 2.0
_BEND_WEIGHT = 4.0  # a straight long arrow matters more than a box in the middle of its neighbours
_SWEEPS = 12


def spaced(rows: Rows, links: Links, widths: Mapping[str, float]) -> dict[Item, float]:
    """The middle of every item: near the mean of its neighbours, and no two of a row too near each other."""
    middles: dict[Item, float] = {}
    for row in rows:
        middles.update(zip(row, _apart(row, [0.0] * len(row), widths)))
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        near = links.above if downwards else links.below
        for row in rows if downwards else rows[::-1]:
            wanted = [_wish(item, near.get(item), middles) for item in row]
            middles.update(zip(row, _apart(row, wanted, widths)))
    return middles


def _wish(item: Item, near: list[Item] | None, middles: Mapping[Item, float]) -> float:
    """The mean of the neighbours; a bend would rather be in line with the next bend of its arrow."""
    if not isinstance(item, str):
        near = [each for each in near or () if not isinstance(each, str)] or near
    return sum(middles[each] for each in near) / len(near) if near else middles[item]


def _apart(row: list[Item], wanted: list[float], widths: Mapping[str, float]) -> list[float]:
    """The places that have the least squared distance from those wanted, and the gaps between neighbours.

    Less the room that the items to the left take, the places have only to be in ascending order: a block of items whose
    wishes contradict each other goes to the mean of them.
    """
    rooms = _rooms(row, widths)
    blocks: list[tuple[float, float, int]] = []  # sum of weights * wishes, sum of weights, number of items
    for item, wish, room in zip(row, wanted, rooms):
        weight = 1.0 if isinstance(item, str) else _BEND_WEIGHT
        block = (weight * (wish - room), weight, 1)
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    places = [total / weight for total, weight, count in blocks for _ in range(count)]
    return [place + room for place, room in zip(places, rooms)]


def _rooms(row: list[Item], widths: Mapping[str, float]) -> list[float]:
    """How far each item is at least from the first."""
    halves = [(widths[item] if isinstance(item, str) else _BEND_WIDTH) / 2 for item in row]
    steps = (left + _GAP + right for left, right in zip(halves, halves[1:]))
    return list(accumulate(steps, initial=0.0))
