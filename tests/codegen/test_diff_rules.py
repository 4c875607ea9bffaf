"""Every rule of the schema diff: its code, verdict and words, on a change that falls under it."""

import re
from pathlib import Path
from random import Random

import pytest

from codegen.diff import compat
from codegen.diff.arguments import argument_findings
from codegen.diff.page import compatibility_page
from codegen.diff.properties import DTYPES
from codegen.diff.report import Verdict, worst
from codegen.diff.results import alias_findings, result_findings
from codegen.diff.rules import RULES, SECTIONS
from codegen.diff.subject import Subject
from codegen.keys import DTYPES as DTYPE_WORDS
from tests import samples
from tests.codegen.diff_cases import CASES, case_report
from tests.codegen.mutations import mutated
from tests.harness import model

ROOT = Path(__file__).parents[2]


def test_every_rule_has_a_case():
    of_a_run = {code for code in RULES if code.startswith("R")}  # test_diff_run.py has theirs
    assert {case.code for case in CASES} == RULES.keys() - of_a_run
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_codes_and_topics_agree():
    assert all(re.fullmatch(r"[SPDMVTHBGNFCQR]\d\d\d", code) for code in RULES)
    assert len({(rule.code[0], rule.topic) for rule in RULES.values()}) == len(SECTIONS)
    codes = [rule.code for rules in SECTIONS.values() for rule in rules]
    assert len(set(codes)) == len(codes)


def test_what_breaks_has_a_remedy():
    assert [code for code, rule in RULES.items() if rule.verdict > Verdict.unproven and not rule.remedy] == []


def test_the_page_is_current():
    assert (ROOT / "docs/compatibility.md").read_text(encoding="utf-8") == compatibility_page()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_is_judged_and_described(case, tmp_path):
    report = case_report(case, tmp_path)
    reported = tuple(f"{change.op} {' '.join(f.rule.code for f in change.findings)}" for change in report.changes)
    assert reported == (case.reported or (f"{case.op} {case.code}",))
    found = [f for change in report.changes if change.op == case.op for f in change.findings]
    (finding,) = [f for f in found if f.rule.code == case.code]
    rule = RULES[case.code]
    assert (finding.message, finding.caller) == (case.message, case.caller)
    assert finding.remedy == (rule.remedy if case.remedy is None else case.remedy)
    assert finding.verdict is rule.verdict
    assert report.verdict is worst(RULES[code].verdict for line in reported for code in line.split()[1:])


def test_the_marked_parts_are_the_difference(tmp_path):
    """What is left of both texts without the marked parts is the same, but for white space."""
    for case in CASES:
        for change in case_report(case, tmp_path / case.name).changes:
            for old, new in [(change.old_schema, change.new_schema), *((f.old, f.new) for f in change.findings)]:
                if old is not None and new is not None:
                    assert unmarked(old) == unmarked(new)
                    assert (old.text == new.text) == (not old.spans and not new.spans)


def unmarked(marked):
    rest, position = "", 0
    for start, end in marked.spans:
        assert position <= start < end <= len(marked.text)
        rest += marked.text[position:start]
        position = end
    return re.sub(r"\s", "", rest + marked.text[position:])


def test_findings_lead_to_the_line_that_changed(tmp_path):
    """In the new files the line of the entry or, in the schema of a changed argument, its column."""
    for case in CASES:
        findings = [f for change in case_report(case, tmp_path / case.name).changes for f in change.findings]
        for place in (finding.location for finding in findings if finding.location and finding.rule.code != "S001"):
            lines = (tmp_path / case.name / place.file).read_text().splitlines()
            assert place.column <= len(lines[place.line - 1])


def test_a_changed_argument_is_found_in_its_schema(tmp_path):
    report = case_report(next(case for case in CASES if case.name == "S018"), tmp_path)
    (finding,) = report.changes[0].findings
    line = (tmp_path / finding.location.file).read_text().splitlines()[finding.location.line - 1]
    assert line[finding.location.column - 1 :].startswith("axis, ")


def test_the_schema_rules_never_disagree_with_the_check():
    """Whatever changes, the worst S finding is what PyTorch's rules say of the two schemas."""
    random = Random(5)
    ops = list(model().ops.values())
    compared = 0
    while compared < 8000:
        op = random.choice(ops)
        new = mutated(op.schema, random, random.choice([1, 1, 2, 3]))
        if new is None or new.full_name != op.name:
            continue
        compared += 1
        subject = Subject(op.schema, new, op, op)
        findings = [*argument_findings(subject), *result_findings(subject), *alias_findings(subject)]
        verdict = worst(finding.rule.verdict for finding in findings if finding.rule.topic == "schema")
        assert max(verdict, Verdict.compatible) is expected(op.schema, new), (str(op.schema), str(new))
        assert (str(op.schema) == str(new)) == (not findings)


def expected(old, new):
    if compat.backward(new, old):
        return Verdict.breaking
    return Verdict.forward_only if compat.forward(new, old) else Verdict.compatible


def test_the_words_for_dtypes_mean_what_the_tests_take_them_for():
    assert {word: tuple(names.split()) for word, names in DTYPES.items()} == samples.DTYPE_GROUPS
    assert DTYPES.keys() == set(DTYPE_WORDS)
