"""The page of the results, and its picture: all ratios in order, a curve for each size."""

from collections.abc import Iterator, Sequence
from math import log

from benchmarks.ops.recipes import BACKWARD, DIRECTIONS, FORWARD
from benchmarks.ops.results import Row, distribution, families, means, table, worst
from benchmarks.ops.sizes import ELEMENTS

SHOWN = 40
PICTURE = "docs/assets/bench_ops.svg"
NOTE = """Time of mindtorch divided by time of torch, below 1 mindtorch is faster; one thread, both in turn in one
process, the fastest of several short batches. Small is about 16 elements, medium 4,096, large a million, of the largest
tensor; half of the cases have another size, which the seed draws. `forward + backward` is the call and
`autograd.grad` of its result; `strided`, `float64` and `bfloat16` are forward. In brackets: how many cases. Written by
`make bench-ops`; all cases are in `benchmarks/ops.tsv`."""


def report(rows: Sequence[Row], head: str) -> str:
    parts = {
        "Geometric means": means(rows),
        "By family": families(rows),
        "How many cases have which ratio": distribution(rows),
        f"The {SHOWN} slowest": table(worst(rows, SHOWN)),
    }
    lines = ["# Every op against torch", "", f"{head}; {len(rows):,} cases.", "", NOTE, "", f"![ratios](../{PICTURE})"]
    for title, part in parts.items():
        lines += ["", f"## {title}", "", *part]
    return "\n".join(lines) + "\n"


# -------------------- the picture --------------------

WIDTH, HEIGHT, MARGIN = 360, 240, 36
LOWEST, HIGHEST = 1 / 16, 16.0
MARKS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
COLORS = {"small": "#4269d0", "medium": "#e07a1f", "large": "#3a8f5c"}


def picture(rows: Sequence[Row]) -> str:
    """The ratios forward and with the backward pass, from the least to the greatest, on a logarithmic scale."""
    panels = [direction for direction in DIRECTIONS if direction in (FORWARD, BACKWARD)]
    whole = f'viewBox="0 0 {len(panels) * (WIDTH + MARGIN) + MARGIN} {HEIGHT + 2 * MARGIN}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {whole} font-family="sans-serif" font-size="12">']
    for place, direction in enumerate(panels):
        lines.append(f'<g transform="translate({MARGIN + place * (WIDTH + MARGIN)} {MARGIN})" fill="#888">')
        lines += [*_frame(direction), *_curves([row for row in rows if row.direction == direction]), "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _frame(title: str) -> Iterator[str]:
    """A line for each power of two, and the names of the curves."""
    yield f'<text x="{WIDTH / 2:g}" y="-14" text-anchor="middle">{title}</text>'
    for mark in MARKS:
        color = "#888" if mark == 1 else "#8884"
        yield f'<path d="M0 {height_of(mark):.1f}H{WIDTH}" stroke="{color}"/>'
        yield f'<text x="-4" y="{height_of(mark) + 4:.1f}" text-anchor="end">{mark:g}</text>'
    for place, (size, color) in enumerate(COLORS.items()):
        yield f'<text x="{8 + 60 * place}" y="{HEIGHT + 14}" style="fill:{color}">{size}</text>'


def _curves(rows: Sequence[Row]) -> Iterator[str]:
    for size in ELEMENTS:
        ratios = sorted(row.ratio for row in rows if row.size == size)
        step = WIDTH / max(1, len(ratios) - 1)
        points = " ".join(f"{place * step:.1f},{height_of(ratio):.1f}" for place, ratio in enumerate(ratios))
        yield f'<polyline points="{points}" fill="none" stroke="{COLORS[size]}" stroke-width="2"/>'


def height_of(ratio: float) -> float:
    """From above; what is beyond the scale is at its end."""
    held = min(max(ratio, LOWEST), HIGHEST)
    return HEIGHT * (1 - log(held / LOWEST) / log(HIGHEST / LOWEST))
