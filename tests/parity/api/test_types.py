"""Type checkers infer the types for mindtorch that they infer for torch, as far as torch's stubs tell any."""

import pytest

from tests.checkers import everyday, plain, remarks, revealing, says_as_much, with_torch


def types(checker, folder, programs):
    """The types of the expressions of each line."""
    found = {}
    for remark in remarks(checker, folder, programs):
        if remark.is_type:
            found.setdefault((remark.file, remark.line, remark.column), plain(remark.text))
    return found


@pytest.mark.parametrize("checker", ["pyright", "mypy"])
def test_the_types_of_all_expressions(checker, tmp_path):
    programs = {name: revealing(text) for name, text in everyday().items()}
    ours = {f"ours_{name}": text for name, text in programs.items()}
    theirs = {f"theirs_{name}": with_torch(text) for name, text in programs.items()}
    found = types(checker, tmp_path, ours | theirs)
    places = [place for place in found if place[0].startswith("ours_")]
    assert len(places) > 1000
    pairs = {place: (found.get((place[0].replace("ours", "theirs"), *place[1:])), found[place]) for place in places}
    assert {place: pair for place, pair in pairs.items() if pair[0] and not says_as_much(*pair)} == {}
