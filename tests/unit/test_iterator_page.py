"""The programs in docs/memory.md run, and print what their comments say."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "memory.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, capsys):
    exec(compile(program, PAGE.name, "exec"), {})
    said = re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
    assert said and capsys.readouterr().out.splitlines() == said
