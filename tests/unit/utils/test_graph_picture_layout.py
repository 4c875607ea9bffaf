"""The layout of pictures of graphs: nothing covers anything else, and arrows go down, around the boxes."""

import random
from itertools import combinations

import pytest

from mindtorch.utils.graph.layout import lay_out, rows_of
from mindtorch.utils.graph.ordering import Links, crossings, ordered
from mindtorch.utils.graph.svg import layout_of
from tests.browser import chromium, needs_browser, show
from tests.unit.utils.test_graph_picture import DRAWINGS


def random_graph(seed):
    """Boxes of random sizes, and arrows from earlier to later ones."""
    rng = random.Random(seed)
    names = [f"b{number}" for number in range(rng.randint(1, 40))]
    sizes = {name: (rng.uniform(20, 300), rng.uniform(20, 120)) for name in names}
    arrows = {pair for pair in combinations(names, 2) if rng.random() < 2.5 / len(names)}
    return sizes, sorted(arrows)


GRAPHS = [random_graph(seed) for seed in range(40)]


def drawn(make):
    """The layout of a picture, and its arrows."""
    picture = make().picture
    return layout_of(picture), [(arrow.source, arrow.target) for arrow in picture.arrows]


@pytest.fixture(params=[*DRAWINGS, *range(len(GRAPHS))], ids=lambda each: getattr(each, "__name__", each))
def case(request):
    if callable(request.param):
        return drawn(request.param)
    sizes, arrows = GRAPHS[request.param]
    return lay_out(sizes, arrows), arrows


def test_boxes_are_in_the_picture_and_do_not_overlap(case):
    layout, _ = case
    for place in layout.places.values():
        assert place.x > 0 and place.x + place.width < layout.width
        assert place.y > 0 and place.y + place.height < layout.height
    for one, other in combinations(layout.places.values(), 2):
        apart = abs(one.middle - other.middle) >= (one.width + other.width) / 2 + 10
        assert apart or one.y + one.height < other.y or other.y + other.height < one.y


def test_arrows_lead_down_from_box_to_box(case):
    layout, arrows = case
    for (source, target), way in zip(arrows, layout.ways):
        start, end = layout.places[source], layout.places[target]
        assert way[0] == pytest.approx((start.middle, start.y + start.height))
        assert end.x < way[-1][0] < end.x + end.width and way[-1][1] == end.y
        assert all(upper[1] <= lower[1] for upper, lower in zip(way, way[1:]))
        assert len(way) % 2 == 0


def points_of(way):
    """The lines and curves of an arrow, as many points."""
    for position, ((x, y), (next_x, next_y)) in enumerate(zip(way, way[1:])):
        for step in range(21):
            t = step / 20
            bent = 3 * t * t - 2 * t * t * t if position % 2 else t  # a curve whose ends are vertical
            yield x + (next_x - x) * bent, y + (next_y - y) * (
                t if not position % 2 else (1.5 * t - 1.5 * t * t + t**3)
            )


def test_arrows_run_through_no_box(case):
    layout, arrows = case
    places = list(layout.places.values())
    for way in layout.ways:
        for x, y in points_of(way):
            assert not [p for p in places if p.x < x < p.x + p.width and p.y + 1e-6 < y < p.y + p.height - 1e-6]


def test_every_box_is_above_those_that_it_leads_to():
    for sizes, arrows in GRAPHS:
        row = rows_of(sizes, arrows)
        assert all(row[source] < row[target] for source, target in arrows)


def test_a_leaf_is_just_above_the_box_that_it_leads_to():
    chain = [("a", "b"), ("b", "c"), ("c", "d"), ("leaf", "d")]
    assert rows_of("abcd", chain[:3])["d"] == 3
    assert rows_of(["a", "b", "c", "d", "leaf"], chain)["leaf"] == 2


def test_an_output_is_just_below_its_box():
    arrows = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "out")]
    assert rows_of(["a", "b", "c", "d", "out"], arrows)["out"] == 1


def test_crossings_are_counted_and_removed():
    links = Links()
    for upper, lower in [("a", "y"), ("b", "x"), ("b", "y"), ("c", "x")]:
        links.add(upper, lower)
    rows = [["a", "b", "c"], ["x", "y"]]
    assert crossings(rows, links) == 3
    ordered(rows, links)
    assert crossings(rows, links) == 0


def test_a_long_chain_of_boxes_is_straight():
    names = [f"b{number}" for number in range(5000)]
    layout = lay_out(dict.fromkeys(names, (100.0, 20.0)), list(zip(names, names[1:])))
    assert {round(place.middle, 6) for place in layout.places.values()} == {66.0}


# -------------------- in a browser --------------------

# Texts whose box does not hold them, and texts that meet each other.
_MISPLACED = """
const rects = [...document.querySelectorAll(".mtg text")].map(text => [text, text.getBoundingClientRect()]);
const outside = rects.filter(([text, rect]) => {
  const box = text.parentNode.querySelector(".box")?.getBoundingClientRect();
  return box && (rect.left < box.left || rect.right > box.right || rect.top < box.top || rect.bottom > box.bottom + 1);
});
const touching = rects.filter(([text, a], i) => rects.slice(i + 1).some(([other, b]) =>
  text.parentNode !== other.parentNode
  && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
return [...outside, ...touching].map(([text]) => text.textContent);
"""

# The least contrast of a text with what is behind it, as WCAG counts it.
_CONTRAST = """
const light = color => color.match(/[\\d.]+/g).slice(0, 3).map(Number).map(c => c / 255)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const fill = element => light(getComputedStyle(element).fill);
return Math.min(...[...document.querySelectorAll(".mtg text")].map(text => {
  const pair = [fill(text), fill(text.parentNode.querySelector(".box") || document.querySelector(".page"))];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}));
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("make", DRAWINGS)
def test_texts_are_in_their_boxes_and_can_be_read(browser, make, dark, tmp_path):
    make().save(tmp_path / "graph.svg")
    show(browser, tmp_path / "graph.svg", dark=dark)
    assert browser.execute_script(_MISPLACED) == []
    assert browser.execute_script(_CONTRAST) >= 4.5
