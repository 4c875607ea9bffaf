"""A picture as an SVG image, for light and dark surroundings."""

from collections.abc import Iterator
from html import escape
from unicodedata import combining, east_asian_width

from mindtorch.utils.graph.layout import Layout, Place, Point, lay_out
from mindtorch.utils.graph.picture import Arrow, Box, Picture, printable

_CHARACTER = 7.3  # the widest that a character of a 12-pixel monospaced font is
_LINE = 16.0
_PADDING = 9.0
_LONGEST = 44  # characters of a line; the tooltip has all
_PORT = 12.0  # what an arrow takes on the box where it ends
_WIDEST_PORTS = 640.0

# Every rule names the class of the image: in a notebook the style sheets of all images are in one page.
_STYLE = """\
.mtg { --page: #ffffff; --ink: #1f2328; --soft: #57606a; --line: #6e7781;
  --leaf: #d6ebff; --node: #f1f3f5; --output: #d8f5dd; --kept: #8a4600; }
@media (prefers-color-scheme: dark) {
  .mtg { --page: #15181d; --ink: #e8eaed; --soft: #b3bac4; --line: #8b949e;
    --leaf: #113a61; --node: #2a2f37; --output: #14432a; --kept: #ffb866; }
}
.mtg .page { fill: var(--page); }
.mtg .box { stroke: var(--line); stroke-width: 1; }
.mtg .leaf .box { fill: var(--leaf); }
.mtg .node .box { fill: var(--node); }
.mtg .output .box { fill: var(--output); }
.mtg text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.mtg text { fill: var(--soft); text-anchor: middle; }
.mtg .title { fill: var(--ink); font-weight: 600; }
.mtg .kept { fill: var(--kept); }
.mtg .way { fill: none; stroke: var(--line); stroke-width: 1.2; }
.mtg .head { fill: var(--line); }
.mtg .label { font-size: 10px; text-anchor: start; paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
.mtg .arrow:hover .way { stroke: var(--ink); stroke-width: 2.4; }
.mtg .arrow:hover .head { fill: var(--ink); }
"""


def svg_of(picture: Picture) -> str:
    layout = layout_of(picture)
    return "\n".join(_lines(picture, layout)) + "\n"


def layout_of(picture: Picture) -> Layout:
    """The layout of a picture whose boxes are as large as their texts."""
    coming = dict.fromkeys((box.key for box in picture.boxes), 0.0)
    for arrow in picture.arrows:
        coming[arrow.target] += _PORT + _CHARACTER * len(arrow.label)
    sizes = {box.key: _size(box, coming[box.key]) for box in picture.boxes}
    return lay_out(sizes, [(arrow.source, arrow.target) for arrow in picture.arrows])


def _size(box: Box, ports: float) -> tuple[float, float]:
    lines = _texts(box)
    wide = max(_columns(text) for _, text in lines) * _CHARACTER
    return max(wide, min(ports, _WIDEST_PORTS)) + 2 * _PADDING, len(lines) * _LINE + _PADDING


def _texts(box: Box) -> list[tuple[str, str]]:
    """The lines of a box as they are shown, each with its class."""
    lines = [("title", box.title), *(("fact", fact) for fact in box.facts), *(("kept", kept) for kept in box.kept)]
    return [(kind, _shortened(printable(text))) for kind, text in lines]


def _columns(text: str) -> int:
    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def _shortened(text: str) -> str:
    if _columns(text) <= _LONGEST:
        return text
    end = len(text)
    while _columns(text[:end]) >= _LONGEST:
        end -= 1
    return text[:end] + "…"


# -------------------- what is written --------------------


def _lines(picture: Picture, layout: Layout) -> Iterator[str]:
    size = (
        f'width="{layout.width:.0f}" height="{layout.height:.0f}" viewBox="0 0 {layout.width:.0f} {layout.height:.0f}"'
    )
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="mtg" role="img" aria-label="backward graph" {size}>'
    yield f"<style>\n{_STYLE}</style>"
    yield '<rect class="page" width="100%" height="100%" rx="6"/>'
    for arrow, way in zip(picture.arrows, layout.ways):
        yield from _arrow(arrow, way)
    for box in picture.boxes:
        yield from _box(box, layout.places[box.key])
    yield "</svg>"


def _box(box: Box, place: Place) -> Iterator[str]:
    yield f'<g class="{box.kind}" data-key="{box.key}">'
    yield f"<title>{_tip(box)}</title>"
    corner = f'x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" height="{place.height:.1f}"'
    yield f'<rect class="box" rx="5" {corner}/>'
    for number, (kind, text) in enumerate(_texts(box)):
        y = place.y + _PADDING / 2 + _LINE * (number + 0.75)
        yield f'<text class="{kind}" x="{place.middle:.1f}" y="{y:.1f}">{escape(text)}</text>'
    yield "</g>"


def _tip(box: Box) -> str:
    """All that is known of a box, for whoever points at it."""
    return "\n".join(escape(printable(line)) for line in (box.title, *box.facts, *box.kept, box.tip) if line)


def _arrow(arrow: Arrow, way: list[Point]) -> Iterator[str]:
    x, y = way[-1]
    yield f'<g class="arrow" data-from="{arrow.source}" data-to="{arrow.target}">'
    if arrow.tip:
        yield f"<title>{escape(arrow.tip)}</title>"
    yield f'<path class="way" d="{_path(way)}"/>'
    yield f'<path class="head" d="M{x:.1f} {y:.1f}l-4 -8h8z"/>'
    if arrow.label:
        yield f'<text class="label" x="{x + 5:.1f}" y="{y - 2:.1f}">{escape(arrow.label)}</text>'
    yield "</g>"


def _path(way: list[Point]) -> str:
    """Lines and curves in turn; the curves begin and end vertically."""
    (x, y), *points = way
    steps = [f"M{x:.1f} {y:.1f}"]
    for number, (next_x, next_y) in enumerate(points):
        if number % 2 == 0 or next_x == x:
            steps.append(f"L{next_x:.1f} {next_y:.1f}")
        else:
            half = (y + next_y) / 2
            steps.append(f"C{x:.1f} {half:.1f} {next_x:.1f} {half:.1f} {next_x:.1f} {next_y:.1f}")
        x, y = next_x, next_y
    return "".join(steps)
