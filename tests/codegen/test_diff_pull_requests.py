"""Sixty edits of this repository: verdict, what is named, exit status, and that no finding repeats another.

All of them are made in one copy of the texts in memory, which is read once: each is found by what it is about.
"""

import gc
import re
from collections import Counter
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from codegen.diff.compare import compare
from codegen.diff.report import Report
from codegen.diff.source_files import read_files
from codegen.diff.state import state_of
from codegen.load import UNFINISHED, load
from tests.codegen.pull_request_edits import FORMULAS, OPS, PULL_REQUESTS
from tests.harness import model

ROOT = Path(__file__).parents[2]


def edited(texts, pull_request):
    """The text of the file with the edit; what it replaces has to be there."""
    text = texts[pull_request.file]
    start = text.index(f"\n{pull_request.entry}") + 1 if pull_request.entry else 0
    end = text.find("\n\n", start) if pull_request.entry else len(text)
    part = text[start:end]
    assert pull_request.before in part, f"{pull_request}: {pull_request.before}"
    return text[:start] + part.replace(pull_request.before, pull_request.after, 1) + text[end:]


def with_schema(formulas, pull_request):
    """The formulas with the schema that an edit of ops.yaml gives their op."""

    def changed(line):
        return line[0].replace(pull_request.before, pull_request.after)

    is_schema = pull_request.entry.startswith("- func: ")
    return (
        re.sub(rf"^- name: {pull_request.about}_?\(.*", changed, formulas, flags=re.MULTILINE)
        if is_schema
        else formulas
    )


@cache
def report():
    """What the diff says of all edits together."""
    files = read_files(ROOT, "mindtorch", "generated")
    texts = {name: files[name].decode() if name in files else (ROOT / name).read_text() for name in paths()}
    for each in PULL_REQUESTS:
        texts[each.file] = edited(texts, each)
        texts[FORMULAS] = with_schema(texts[FORMULAS], each)
    changed = {name: text.encode() for name, text in texts.items()}
    gc.disable()
    try:
        head = load(ROOT, unsaved=changed, but_for=UNFINISHED)
        states = [state_of("base", model(), files=files), state_of("head", head, files={**files, **changed})]
        return compare(*states, date(2026, 7, 1))
    finally:
        gc.enable()


def paths():
    return dict.fromkeys(each.file for each in PULL_REQUESTS)


def test_there_are_sixty():
    assert len(PULL_REQUESTS) == 60
    assert len({(each.rule, each.about) for each in PULL_REQUESTS}) == 60


@pytest.mark.parametrize("pull_request_", PULL_REQUESTS, ids=str)
def test_a_pull_request_is_found(pull_request_):
    each = pull_request_
    change = next((change for change in report().changes if change.op == each.about), None)
    assert change is not None, f"nothing is said of {each.about}"
    finding = next((finding for finding in change.findings if finding.rule.code == each.rule), None)
    assert finding is not None, [f"{found.rule.code} {found.message}" for found in change.findings]
    said = f"{finding.message} {finding.caller}"
    assert [name for name in each.names if name not in said] == [], said
    alone = replace(report(), changes=(change,), list_errors=())
    assert alone.exit_code() == each.code
    assert finding.location is None or finding.location.file == each.file


def test_no_two_findings_say_the_same():
    found = [f"{finding.op}: {finding.message}" for change in report().changes for finding in change.findings]
    assert [text for text, count in Counter(found).items() if count > 1] == []


def test_nothing_else_is_found():
    """Entries of other ops, or of files that were not edited, are too much."""
    about = {each.about for each in PULL_REQUESTS}
    modules = {model().project.module_of(each.file) for each in PULL_REQUESTS}
    others = [change.op for change in report().changes if not {change.op, change.root} & (about | modules)]
    assert others == []


def test_an_unchanged_tree_has_no_findings():
    files = read_files(ROOT, "mindtorch", "generated")
    state = state_of("base", model(), files=files)
    assert compare(state, state, date(2026, 7, 1)).changes == ()
    assert isinstance(report(), Report) and {OPS, FORMULAS} <= paths().keys()
