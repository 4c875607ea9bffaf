"""The programs in docs/modes.md run, and print what stands below them."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "modes.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr", None)  # the first program sends it elsewhere; this brings it back
    code, _, said = program.partition("\n# ")
    exec(compile(code, PAGE.name, "exec"), {})
    expected = [line.removeprefix("# ") for line in said.splitlines()]
    assert said and capsys.readouterr().out.splitlines() == expected
