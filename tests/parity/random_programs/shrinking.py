"""Makes a program that differs as short as it can be."""

import re
import textwrap
from collections.abc import Callable, Iterator

_NUMBERS = re.compile(r"\b[tfhFMo]+\d+\b|-?\d+(\.\d+)?(e[-+]?\d+)?")


def kind_of(difference: str | None) -> str:
    """A difference without the names and numbers in it."""
    return " ".join(_NUMBERS.sub("", difference or "").split())[:60]


def shrunk(lines: list[str], difference: str, run: Callable[[list[str]], str | None]) -> tuple[list[str], str]:
    """The program without the statements, and the lines of blocks, that its difference does not need."""
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for candidate in _shorter(lines):
            found = run(candidate) if all(map(_is_code, candidate)) else None
            if found and kind_of(found) == kind_of(difference):
                lines, difference, is_shorter = candidate, found, True
                break
    return lines, difference


def _is_code(line: str) -> bool:
    try:
        compile(line, "program", "exec")
    except SyntaxError:
        return False
    return True


def _shorter(lines: list[str]) -> Iterator[list[str]]:
    """Programs that lack something, those that lack most first."""
    for place in reversed(range(len(lines))):
        yield lines[:place] + lines[place + 1 :]
    for place in reversed(range(len(lines))):
        for text in _shorter_blocks(lines[place].split("\n")):
            yield lines[:place] + [text] + lines[place + 1 :]


def _shorter_blocks(block: list[str]) -> Iterator[str]:
    """A block without one of its lines (with what belongs to it), or without a header."""
    for place in reversed(range(len(block) if len(block) > 1 else 0)):
        if block[place].lstrip().startswith("return"):
            continue
        end = place + 1
        while end < len(block) and _depth(block[end]) > _depth(block[place]):
            end += 1
        yield "\n".join(block[:place] + block[end:])
        if end > place + 1 and block[place].lstrip().startswith(("with", "for")):
            inner = textwrap.indent(textwrap.dedent("\n".join(block[place + 1 : end])), " " * _depth(block[place]))
            yield "\n".join([*block[:place], *inner.split("\n"), *block[end:]])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
