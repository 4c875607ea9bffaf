"""Where the op reference says that an op is found, it is."""

import re
from operator import attrgetter
from pathlib import Path

import pytest

import mindtorch
from mindtorch import Tensor

PAGES = sorted((Path(__file__).parents[2] / "docs" / "ops").glob("*.md"))


def places(page):
    """The names in the lines that begin with `Python:`, without the notes in brackets."""
    lines = re.findall(r"^- Python: (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [name for line in lines for name in re.findall(r"`(.*?)`", re.sub(r"\(.*?\)", "", line))]


def is_there(place):
    root, _, name = place.partition(".")
    if not name:
        return hasattr(Tensor, root)  # a Python operator
    try:
        attrgetter(name)({"mindtorch": mindtorch, "Tensor": Tensor}[root])
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem not in ("index", "npu")], ids=lambda page: page.stem
)
def test_every_op_is_where_its_page_says(page):
    found = places(page)
    assert found
    missing = [place for place in found if not is_there(place)]
    assert missing == [], "ops.yaml puts them there: let the module import its list from mindtorch._generated.modules"


@pytest.mark.parametrize("place", ["mindtorch.special.special_entr", "Tensor.entr", "__matadd__"])
def test_what_is_not_there_is_noticed(place):
    assert not is_there(place)
