"""The list of allowed breaks: what an entry covers, and what is wrong with a list."""

from dataclasses import replace
from datetime import date

import pytest

from codegen.diff.allowed import read_allow_list
from codegen.diff.compare import compare
from codegen.diff.report import Verdict
from codegen.diff.state import state_of
from codegen.load import load
from tests.codegen.diff_project import TODAY, write_case
from tests.codegen.project import clean

FILE = "schemas/allowed.yaml"
RENAME = """
    - op: mul.Tensor
      rule: S018
      reason: the name that NumPy has
      expires: 2026-07-01
"""
# The second argument of mul.Tensor and its variants has another name.
EDITS = (
    ("Tensor other) -> Tensor", "Tensor factor) -> Tensor"),
    ("numbers: other", "numbers: factor"),
    ("  self: grad * other\n  other: grad * self\n", "  self: grad * factor\n  factor: grad * self\n"),
    ("self_t * other_p + other_t * self_p", "self_t * factor_p + factor_t * self_p"),
    ("def mul(input, other,", "def mul(input, factor,"),
)
WITHOUT_CANN = (
    ("  aclnn: aclnnMul(self, other, out); by hand\n", ""),
)  # it would have to follow, which is a change as well


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """The project before and after an argument was renamed."""
    folder = tmp_path_factory.mktemp("states")
    edits = {"old": WITHOUT_CANN, "new": WITHOUT_CANN + EDITS}
    old, new = (load(write_case(folder / name, made)) for name, made in edits.items())
    return state_of("main", old), state_of("the working tree", new)


def listed(folder, text):
    path = folder / "allowed.yaml"
    path.write_text(clean(text))
    return read_allow_list(path, FILE)


def report(states, folder, text, today=TODAY, **changes):
    """The report with a list in the new state; ``changes`` are to the old one."""
    base, head = states
    return compare(replace(base, **changes), replace(head, allow_list=listed(folder, text)), today)


def test_without_a_list_the_change_breaks(states):
    found = compare(*states, TODAY)
    assert found.verdict is Verdict.breaking
    assert [change.op for change in found.changes] == ["mul.Tensor"]
    assert found.changes[0].findings[0].message.endswith("; the same for `mul_.Tensor`, `mul.out`")


def test_an_entry_covers_the_op_and_its_variants(states, tmp_path):
    found = report(states, tmp_path, RENAME)
    assert found.list_errors == ()
    assert found.verdict is Verdict.compatible
    allowances = {finding.allowance for change in found.changes for finding in change.findings}
    assert {(entry.op, entry.rule, entry.expires) for entry in allowances} == {("mul.Tensor", "S018", TODAY)}
    assert {finding.rule.verdict for change in found.changes for finding in change.findings} == {Verdict.breaking}


def test_an_entry_for_a_variant_covers_only_that(states, tmp_path):
    found = report(states, tmp_path, RENAME.replace("mul.Tensor", "mul.out"))
    breaking = [change.op for change in found.changes if change.verdict is Verdict.breaking]
    assert breaking == ["mul.Tensor"]


def test_an_entry_for_another_rule_covers_nothing(states, tmp_path):
    found = report(states, tmp_path, RENAME.replace("S018", "S010"))
    assert found.list_errors == (
        "schemas/allowed.yaml:1:3: error[E123] the entry for S010 of mul.Tensor covers nothing that changed since "
        "main\nhelp: remove it",
    )


def test_an_entry_for_a_misspelt_op_says_what_was_meant(states, tmp_path):
    hints = {
        "mul.Tensr": "help: did you mean 'mul.Tensor'?",
        "frobnicate": "help: there is no op 'frobnicate'",
    }
    for name, hint in hints.items():
        (error,) = report(states, tmp_path, RENAME.replace("mul.Tensor", name)).list_errors
        assert error.endswith(hint)


def test_an_expired_entry_covers_nothing_and_is_an_error(states, tmp_path):
    found = report(states, tmp_path, RENAME, today=date(2026, 7, 2))
    assert found.list_errors == (
        "schemas/allowed.yaml:1:3: error[E122] the entry for S018 of mul.Tensor has expired: it held until 2026-07-01\n"
        "help: undo the change, or give the entry another day and the reason for it",
    )
    assert all(finding.allowance is None for change in found.changes for finding in change.findings)


def test_compatible_changes_need_no_entry(states, tmp_path):
    entry = RENAME.replace("mul.Tensor", "exp").replace("S018", "S012")
    assert "[E123]" in report(states, tmp_path, RENAME + entry).list_errors[0]


def test_an_entry_that_is_older_than_the_base_has_done_its_work(states, tmp_path):
    older = listed(tmp_path, RENAME)
    base = replace(states[1], allow_list=older)  # the renaming is in both states
    assert compare(base, replace(states[1], allow_list=older), TODAY).list_errors == ()
    release = replace(base, is_release=True)
    assert "[E123]" in compare(release, replace(states[1], allow_list=older), TODAY).list_errors[0]


def test_an_error_in_the_list_is_a_break(states, tmp_path):
    base, _ = states
    found = compare(base, replace(base, allow_list=listed(tmp_path, RENAME)), TODAY)
    assert found.changes == ()
    assert found.verdict is Verdict.breaking
    assert found.exit_code() == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (RENAME.replace("S018", "S01B"), "schemas/allowed.yaml:2:9: error[E120] unknown rule 'S01B'"),
        (RENAME.replace("2026-07-01", "July"), "schemas/allowed.yaml:4:12: error[E121] 'July' is no day"),
        (RENAME.replace("2026-07-01", "20260701"), "schemas/allowed.yaml:4:12: error[E121] '20260701' is no day"),
        (RENAME.replace("2026-07-01", "2026-02-30"), "schemas/allowed.yaml:4:12: error[E121] '2026-02-30' is no day"),
        (RENAME.replace("      reason: the name that NumPy has\n", ""), "error[E013] the entry has no 'reason'"),
        (
            RENAME.replace("the name that NumPy has", '""'),
            "schemas/allowed.yaml:3:11: error[E014] 'reason' must be a text",
        ),
        (
            RENAME.replace("the name that NumPy has", "..."),
            "schemas/allowed.yaml:3:11: error[E014] '...' is no reason",
        ),
        (RENAME.replace("expires", "expire"), "schemas/allowed.yaml:4:3: error[E012] unknown key 'expire'"),
        ("- mul", "schemas/allowed.yaml:1:3: error[E010] an entry must be a mapping"),
        ("a: b", "schemas/allowed.yaml:1:1: error[E010] schemas/allowed.yaml must be a list of entries"),
        ("- [", "schemas/allowed.yaml:1:4: error[E004] not YAML"),
    ],
    ids=lambda value: value[-40:] if "error[" in value else None,
)
def test_what_is_wrong_is_located(states, tmp_path, text, error):
    errors = report(states, tmp_path, text).list_errors
    assert error in errors[0]


def test_a_list_need_not_exist(tmp_path):
    assert read_allow_list(tmp_path / "allowed.yaml", FILE).errors == ()
    assert listed(tmp_path, "# nothing\n[]\n").errors == ()
