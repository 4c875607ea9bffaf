"""docs/autograd.md: its excerpts are what the files say, and its program runs and prints what the comments say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "autograd.md").read_text(encoding="utf-8")
BLOCK = r"```\w+\n(.*?)^```$"
EXCERPTS = re.findall(rf"^\*\*Excerpt\*\* of `(.*?)`:\n\n{BLOCK}", PAGE, re.MULTILINE | re.DOTALL)
PROGRAM = re.findall(rf"^\*\*Program(?:,\*\* continued|:\*\*):?\n\n{BLOCK}", PAGE, re.MULTILINE | re.DOTALL)


def test_every_block_is_of_one_of_the_two_kinds():
    assert EXCERPTS and PROGRAM
    assert len(EXCERPTS) + len(PROGRAM) == PAGE.count("\n```") / 2


@pytest.mark.parametrize(("file", "text"), EXCERPTS, ids=[file for file, _ in EXCERPTS])
def test_an_excerpt_is_in_its_file(file, text):
    assert text in (ROOT / file).read_text(encoding="utf-8"), f"{file} says something else now: copy it anew"


def test_the_program_prints_what_its_comments_say(capsys):
    program = "".join(PROGRAM)
    exec(compile(program, "docs/autograd.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
