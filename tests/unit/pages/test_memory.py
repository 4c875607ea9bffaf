"""The programs in docs/memory.md, docs/numerics.md and docs/saving.md run, and print what their comments say."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
PROGRAMS = [
    program
    for page in ("memory.md", "numerics.md", "saving.md")
    for program in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "page", "exec"), {})
    said = re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
    assert said and capsys.readouterr().out.splitlines() == said
