"""The programs in README.md run, and print what their comments say."""

import re
from pathlib import Path

import pytest

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
