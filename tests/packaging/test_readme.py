"""The programs in README.md run, and print what their comments say."""

import re
from datetime import date
from pathlib import Path

import pytest

from codegen.diff.compare import compare
from codegen.diff.formats import text
from codegen.diff.state import state_of
from codegen.load import UNFINISHED, load

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, capsys):
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*?\) +# (.*)$", program, re.MULTILINE)


def test_targets_that_it_names_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`?make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert named <= set(re.findall(r"^(\w+):", makefile, re.MULTILINE))


def test_the_diff_that_it_shows():
    """What is shown of an argument of `sum` that gets another name; `...` stands for the line."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```\n(breaking .*?)^```", page, re.MULTILINE | re.DOTALL)
    unsaved = {"ops.yaml": with_axis("ops.yaml", 2), "derivatives.yaml": with_axis("derivatives.yaml", 2)}
    states = state_of("old", load(ROOT)), state_of("new", load(ROOT, unsaved, but_for=UNFINISHED))
    printed = text.render(compare(*states, date(2026, 1, 1)))
    lines = [".*".join(map(re.escape, line.split("..."))) for line in shown.splitlines()]
    assert re.search(rf"^{lines[0]}\n(  [-+ ].*\n)*" + "\n".join(lines[1:]) + "$", printed, re.MULTILINE), printed


def with_axis(file, count):
    """The content of a file with another name for the argument, in both schemas or in the schema and the formula."""
    before, start, rest = (ROOT / file).read_text(encoding="utf-8").partition(": sum.dim_IntList(")
    return (before + start + re.sub(r"\bdim\b", "axis", rest, count=count)).encode()
