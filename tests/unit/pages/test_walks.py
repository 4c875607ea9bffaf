"""From the entry of any op in ops.yaml its family and its words lead to everything else; ten walks are in internals.md.

MINDTORCH_UPDATE_GOLDEN=1 writes the table of the page anew.
"""

import os

import pytest

from codegen.keys import FAMILIES
from tests import walks
from tests.walks import ROOT, Entry, LostWay, walk

PAGE = ROOT / "docs" / "internals.md"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_op_is_found_from_its_family(family):
    lost = []
    for op in walks.ops().values():
        try:
            walk(op) if op.family == family else None
        except LostWay as error:
            lost.append(f"ops.yaml:{op.line}: {op.name}: {error}")
    assert lost == [], "\n".join(
        ["put these where the family's folder is, or in common.py if families share them:", *lost]
    )


def test_every_op_has_a_family_that_was_walked():
    assert {op.family for op in walks.ops().values()} == set(FAMILIES)
    assert len(walks.ops()) > 1000


def test_the_table_of_the_page():
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(walks.BEGIN)
    shown, _, after = rest.partition(walks.END)
    made = walks.table(walks.drawn(10))
    if os.environ.get("MINDTORCH_UPDATE_GOLDEN"):
        PAGE.write_text(f"{before}{walks.BEGIN}{made}{walks.END}{after}", encoding="utf-8")
        shown = made
    assert shown == made, "docs/internals.md has other walks: write them anew with MINDTORCH_UPDATE_GOLDEN=1"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"dispatch": {"CPU": "conv"}}, "'conv' is in none of mindtorch/backends/cpu/view"),
        ({"composite": "glu"}, "'glu' is in none of mindtorch/composite/view"),
        (
            {"decomposition": "self", "shape": "view_of_nothing"},
            "'view_of_nothing' is in none of mindtorch/backends/meta",
        ),
        ({"decomposition": "self", "dispatch": {"NPU": "conv"}}, "'conv' is in none of mindtorch/backends/npu/view"),
        ({"decomposition": "self", "samples": "nothing"}, "'nothing' is in none of tests/samples.py"),
    ],
)
def test_a_way_that_leads_nowhere(keys, text):
    lines = {"decomposition": 3}
    with pytest.raises(LostWay, match=text):
        walk(Entry("planted", 1, {"func": "planted(Tensor self) -> Tensor", "family": "view", **keys}, lines))
