"""Every rule of the schema diff in every format, compared with files that people have read.

`golden/<format>/` has a file per chapter of docs/compatibility.md with what is printed for each case of diff_cases.py.
After a change that is meant, write the files anew, and read what changed:

    MINDTORCH_UPDATE_GOLDEN=1 python -m pytest tests/codegen/test_diff_golden.py
"""

import os
import re
from functools import cache
from pathlib import Path

import pytest

from codegen.diff.formats import FORMATS
from codegen.diff.rules import RULES, SECTIONS
from tests.codegen.diff_cases import CASES, case_report

GOLDEN = Path(__file__).parent / "golden"
SUFFIXES = {
    "text": "txt",
    "markdown": "md",
    "json": "json.txt",
    "html": "html",
    "github": "txt",
    "sarif": "json.txt",
    "junit": "xml",
}
# What a run shows is no change of files; test_diff_run.py has its rules.
CHAPTERS = {
    title.lower().replace(" ", "-"): {rule.code for rule in rules}
    for title, rules in SECTIONS.items()
    if rules[0].topic != "run"
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A function that gives the report of a case, made once for all formats."""
    folder = tmp_path_factory.mktemp("cases")
    return cache(lambda number: case_report(CASES[number], folder / str(number)))


def printed(form, report):
    """A report in a format; of the page only what differs from report to report."""
    text = FORMATS[form](report)
    return re.search(r"<main .*</main>\n", text, re.DOTALL).group() if form == "html" else text


def chapter_text(form, codes, reports):
    """All cases of a chapter, each below a line with its name."""
    cases = [(number, case) for number, case in enumerate(CASES) if case.code in codes]
    return "\n".join(f"========== {case.name}\n{printed(form, reports(number))}" for number, case in cases)


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_printed(form, chapter, reports):
    path = GOLDEN / form / f"{chapter}.{SUFFIXES[form]}"
    text = chapter_text(form, CHAPTERS[chapter], reports)
    if os.environ.get("MINDTORCH_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over():
    expected = {GOLDEN / form / f"{chapter}.{SUFFIXES[form]}" for form in FORMATS for chapter in CHAPTERS}
    assert {path for path in GOLDEN.rglob("*") if path.is_file()} == expected


def test_every_rule_is_in_every_format():
    for form in FORMATS:
        text = "".join(path.read_text(encoding="utf-8") for path in (GOLDEN / form).iterdir())
        assert [code for code in RULES if code not in text and code[0] != "R"] == []
