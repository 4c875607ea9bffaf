"""Rows of results: kept as a table with tabs, and summed up as geometric means, a distribution and the worst."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import geometric_mean, median

from benchmarks.ops.compare import Times
from benchmarks.ops.recipes import DIRECTIONS
from benchmarks.ops.sizes import ELEMENTS

Key = tuple[str, str, str]
COLUMNS = "op family size direction elements ours_us theirs_us ratio".split()
LIMITS = (0.5, 0.8, 1.0, 1.25, 2.0, 4.0)


@dataclass(frozen=True)
class Row:
    """A case and how long it took, in microseconds."""

    op: str
    family: str
    size: str
    direction: str
    elements: int
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def key(self) -> Key:
        return self.op, self.size, self.direction

    @property
    def times(self) -> Times:
        return Times(self.ours / 1e6, self.theirs / 1e6)


# -------------------- the stored table --------------------


def written(rows: Iterable[Row], head: str) -> str:
    """The table in the order of ops, behind a line that says how it was made."""
    lines = [f"# {head}", "\t".join(COLUMNS)]
    for row in sorted(rows, key=lambda row: row.key):
        lines.append(
            "\t".join([*map(str, astuple(row)[:5]), f"{row.ours:.4g}", f"{row.theirs:.4g}", f"{row.ratio:.3g}"])
        )
    return "\n".join(lines) + "\n"


def read(text: str) -> tuple[str, list[Row]]:
    """The line above the table, and its rows."""
    head, _, *lines = text.splitlines()
    return head.removeprefix("# "), [_row(line.split("\t")) for line in lines]


def _row(cells: Sequence[str]) -> Row:
    op, family, size, direction, elements, ours, theirs, _ = cells
    return Row(op, family, size, direction, int(elements), float(ours), float(theirs))


def load(path: Path) -> tuple[str, list[Row]]:
    return read(path.read_text(encoding="utf-8")) if path.is_file() else ("", [])


def merged(old: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """The rows of both, the new ones where both have a case."""
    return list({row.key: row for row in (*old, *new)}.values())


# -------------------- summing up --------------------


def grouped(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[float]]:
    """The ratios by what the key says of their rows."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row.ratio)
    return found


def cell(ratios: Sequence[float]) -> str:
    return f"{geometric_mean(ratios):.2f} ({len(ratios)})" if ratios else ""


def means(rows: Sequence[Row]) -> list[str]:
    """Geometric means by direction and size, in Markdown."""
    lines = [f"| | {' | '.join(ELEMENTS)} |", "|---|" + "---:|" * len(ELEMENTS)]
    for direction in DIRECTIONS:
        by_size = grouped((row for row in rows if row.direction == direction), lambda row: row.size)
        if by_size:
            lines.append(f"| {direction} | {' | '.join(cell(by_size.get(size, [])) for size in ELEMENTS)} |")
    return lines


def distribution(rows: Sequence[Row]) -> list[str]:
    """How many cases are below which ratio, by direction and size, and the median, in Markdown."""
    heads = [f"to {limit:g}" for limit in LIMITS] + [f"above {LIMITS[-1]:g}", "median", "worst"]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for group, ratios in grouped(_ordered(rows), lambda row: f"{row.direction}, {row.size}").items():
        counts = " | ".join(map(str, counted(ratios)))
        lines.append(f"| {group} | {counts} | {median(ratios):.2f} | {max(ratios):.1f} |")
    return lines


def _ordered(rows: Iterable[Row]) -> list[Row]:
    places = {name: place for place, name in enumerate((*DIRECTIONS, *ELEMENTS))}
    return sorted(rows, key=lambda row: (places[row.direction], places[row.size]))


def counted(ratios: Sequence[float]) -> list[int]:
    """How many are up to each limit and above the one before, and how many above all."""
    below = [sum(ratio <= limit for ratio in ratios) for limit in LIMITS] + [len(ratios)]
    return [high - low for low, high in zip([0, *below], below)]


def families(rows: Sequence[Row]) -> list[str]:
    """Geometric means by family, for each size forward and with the backward pass, the slowest families first."""
    groups = [(size, direction) for size in ELEMENTS for direction in DIRECTIONS[:2]]
    lines = [
        f"| | {' | '.join(f'{size}, {direction}' for size, direction in groups)} |",
        "|---|" + "---:|" * len(groups),
    ]
    by_family = grouped(rows, lambda row: row.family)
    for family in sorted(by_family, key=lambda name: -geometric_mean(by_family[name])):
        mine = grouped((row for row in rows if row.family == family), lambda row: f"{row.size}, {row.direction}")
        lines.append(f"| {family} | {' | '.join(cell(mine.get(', '.join(group), [])) for group in groups)} |")
    return lines


def table(rows: Iterable[Row]) -> list[str]:
    """Cases with their times, in Markdown."""
    lines = ["| op | size | | elements | ours, µs | theirs, µs | ratio |", "|---|---|---|---:|---:|---:|---:|"]
    for row in rows:
        numbers = f"{row.elements:,} | {row.ours:,.4g} | {row.theirs:,.4g} | {row.ratio:.2f}"
        lines.append(f"| {row.op} | {row.size} | {row.direction} | {numbers} |")
    return lines


def worst(rows: Iterable[Row], count: int) -> list[Row]:
    return sorted(rows, key=lambda row: -row.ratio)[:count]
