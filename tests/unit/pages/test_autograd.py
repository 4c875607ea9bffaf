"""docs/autograd.md: what it quotes is what is there, its programs run, and its picture is the one that they draw.

MINDTORCH_UPDATE_GOLDEN=1 writes the picture anew.
"""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "autograd.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|yaml)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
QUOTED = {
    "- name: hypot(": "derivatives.yaml",
    "class HypotBackward0": "generated/nodes/pointwise.py",
    "        node = None": "generated/ops/pointwise.py",
    "def hypot(": "generated/forward_ad/pointwise.py",
}
PROGRAMS = [text for language, text in BLOCKS if not text.startswith(tuple(QUOTED))]


@pytest.mark.parametrize(("beginning", "file"), QUOTED.items())
def test_quotes(beginning, file):
    (quote,) = [text for _, text in BLOCKS if text.startswith(beginning)]
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"\n{quote}\n" in text, f"docs/autograd.md quotes what {file} no longer says: copy it anew"


def test_programs(capsys):
    """One after the other, as one program."""
    names = {}
    for program in PROGRAMS:
        exec(compile(program, PAGE.name, "exec"), names)
    said = [text for program in PROGRAMS for text in re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)]
    assert len(said) >= len(PROGRAMS) and capsys.readouterr().out.splitlines() == said
    (file,) = re.findall(r"^!\[.*\]\((.*)\)$", TEXT, re.MULTILINE)
    picture = PAGE.parent / file
    if os.environ.get("MINDTORCH_UPDATE_GOLDEN"):
        names["picture"].save(picture)
    assert picture.read_text(encoding="utf-8") == names["picture"].svg
