"""Where the boxes of a graph go, and the ways of the arrows: a layered layout.

Every box is in a row above those of all boxes that it leads to. An arrow that passes rows has a *bend* in each of them,
which keeps its place among the boxes as a narrow one would; arrows that leave one box share their bends. Within its row
a box goes to where its neighbours in the row above, then in the row below, have their mean, which is repeated until
there are few crossings. Between rows arrows are curves, within a row they are vertical: so none runs through a box.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mindtorch.utils.graph.ordering import Item, Links, Rows, ordered
from mindtorch.utils.graph.spacing import spaced

_MARGIN = 16.0
_ROW_GAP = 30.0
_SLOPE = 0.08  # how much the gap between two rows grows with the width of the curves in it
_WIDEST_GAP = 110.0
_PORT_GAP = 26.0  # between arrows that end at one box

Size: TypeAlias = tuple[float, float]
Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a box is: its left upper corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Layout:
    width: float
    height: float
    places: dict[str, Place]
    ways: list[
        list[Point]
    ]  # of each arrow: points, of which the first two are joined by a line, the next by a curve, ...


def lay_out(sizes: Mapping[str, Size], arrows: Sequence[tuple[str, str]]) -> Layout:
    """The places of boxes of some sizes, and the way of each arrow `(source, target)`."""
    row_of = rows_of(sizes, arrows)
    rows, links = _with_bends(row_of, arrows)
    ordered(rows, links)
    middles = spaced(rows, links, {box: width for box, (width, _) in sizes.items()})
    heights = [max((sizes[item][1] for item in row if isinstance(item, str)), default=0.0) for row in rows]
    tops = _tops(rows, links, middles, heights)
    places = {
        box: Place(middles[box] - width / 2, tops[row_of[box]] + (heights[row_of[box]] - height) / 2, width, height)
        for box, (width, height) in sizes.items()
    }
    spans = [(top, top + height) for top, height in zip(tops, heights)]
    ways = _ways(arrows, row_of, places, middles, spans)
    return _moved_into_view(places, ways)


def rows_of(boxes: Iterable[str], arrows: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The row of each box: as low as the boxes that it leads to allow, but for those at the ends, which go up."""
    sources, targets = defaultdict(list), defaultdict(list)
    for source, target in arrows:
        sources[target].append(source)
        targets[source].append(target)
    left = {box: len(targets[box]) for box in boxes}
    height = dict.fromkeys(left, 0)
    ready = [box for box, count in left.items() if not count]
    for box in ready:  # grows while it is read
        for source in sources[box]:
            height[source] = max(height[source], height[box] + 1)
            left[source] -= 1
            if not left[source]:
                ready.append(source)
    top = max(height.values())
    row = {box: top - number for box, number in height.items()}
    for box in row:
        if not targets[box] and sources[box]:
            row[box] = max(row[source] for source in sources[box]) + 1
    return row


def _with_bends(row_of: dict[str, int], arrows: Sequence[tuple[str, str]]) -> tuple[Rows, Links]:
    """What is in every row, and which things in neighbouring rows are linked."""
    rows: Rows = [[] for _ in range(max(row_of.values()) + 1)]
    links = Links()
    last = dict(row_of)  # the lowest row that an arrow from a box passes
    for source, target in arrows:
        last[source] = max(last[source], row_of[target] - 1)
    for box, row in row_of.items():
        rows[row].append(box)
        for number in range(row + 1, last[box] + 1):
            rows[number].append((box, number))
            links.add(_on_the_way(box, number - 1, row_of), (box, number))
    for source, target in arrows:
        links.add(_on_the_way(source, row_of[target] - 1, row_of), target)
    return rows, links


def _on_the_way(box: str, row: int, row_of: dict[str, int]) -> Item:
    """The box or its bend: what its arrows pass in a row."""
    return box if row_of[box] == row else (box, row)


def _tops(rows: Rows, links: Links, middles: Mapping[Item, float], heights: list[float]) -> list[float]:
    """Where each row begins; there is more room where arrows go far to the side."""
    tops = [0.0]
    for row, height in zip(rows, heights):
        widest = max((abs(middles[item] - middles[below]) for item in row for below in links.below[item]), default=0.0)
        tops.append(tops[-1] + height + min(_ROW_GAP + _SLOPE * widest, _WIDEST_GAP))
    return tops


# -------------------- arrows --------------------


def _ways(
    arrows: Sequence[tuple[str, str]],
    row_of: dict[str, int],
    places: dict[str, Place],
    middles: Mapping[Item, float],
    spans: list[tuple[float, float]],
) -> list[list[Point]]:
    ports = _ports(arrows, row_of, places, middles)
    ways = []
    for (source, target), port in zip(arrows, ports):
        start, end = places[source], places[target]
        way = [(start.middle, start.y + start.height), (start.middle, spans[row_of[source]][1])]
        for row in range(row_of[source] + 1, row_of[target]):
            x = middles[(source, row)]
            way += [(x, spans[row][0]), (x, spans[row][1])]
        ways.append([*way, (port, spans[row_of[target]][0]), (port, end.y)])
    return ways


def _ports(
    arrows: Sequence[tuple[str, str]],
    row_of: dict[str, int],
    places: dict[str, Place],
    middles: Mapping[Item, float],
) -> list[float]:
    """Where on its target each arrow ends: beside each other, in the order in which they come."""
    coming = defaultdict(list)
    for number, (source, target) in enumerate(arrows):
        coming[target].append((middles[_on_the_way(source, row_of[target] - 1, row_of)], number))
    ports = [0.0] * len(arrows)
    for target, ends in coming.items():
        place = places[target]
        step = min(_PORT_GAP, place.width / (len(ends) + 1))
        for position, (_, number) in enumerate(sorted(ends)):
            ports[number] = place.middle + (position - (len(ends) - 1) / 2) * step
    return ports


def _moved_into_view(places: dict[str, Place], ways: list[list[Point]]) -> Layout:
    """The same with a margin around, in coordinates that begin at zero."""
    xs = [x for way in ways for x, _ in way] + [edge for p in places.values() for edge in (p.x, p.x + p.width)]
    left, bottom = min(xs) - _MARGIN, max(place.y + place.height for place in places.values())
    return Layout(
        max(xs) - left + _MARGIN,
        bottom + 2 * _MARGIN,
        {box: Place(p.x - left, p.y + _MARGIN, p.width, p.height) for box, p in places.items()},
        [[(x - left, y + _MARGIN) for x, y in way] for way in ways],
    )
