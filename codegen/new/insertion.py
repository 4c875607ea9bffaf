"""Puts lines into a file and leaves every other byte of it alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import LINE_END


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text that goes to an offset; the text there and behind moves down."""

    offset: int
    text: str

    def into(self, text: str) -> str:
        return text[: self.offset] + self.text + text[self.offset :]


def after_entry(text: str, line: int, starts: Iterable[int], new: str) -> Insertion:
    """``new`` behind the entry that starts on ``line``; ``starts`` are the lines on which entries start."""
    lines = _Lines(text)
    following = min((start for start in starts if start > line), default=lines.count + 1)
    return _below(lines, lines.last_used(line, following), new)


def after_heading(text: str, heading: str, new: str) -> Insertion | None:
    """``new`` below the comment line ``# ---- heading ----``; None when there is no such line."""
    lines = _Lines(text)
    pattern = re.compile(rf"#[ -]*{re.escape(heading)}[ -]*$")
    found = [number for number in range(1, lines.count + 1) if pattern.match(lines.line(number))]
    return _below(lines, found[0], new) if found else None


def at_end(text: str, new: str) -> Insertion:
    lines = _Lines(text)
    return _below(lines, lines.last_used(0, lines.count + 1, comments=True), new)


def appended(text: str, definition: str) -> str:
    """A Python file with one more definition, two blank lines below the rest."""
    newline = _Lines(text).newline
    end = "" if text.endswith(("\n", "\r")) else newline
    return text + end + definition.replace("\n", newline)


class _Lines:
    """The lines of a text, counted from 1, as YAML counts them."""

    def __init__(self, text: str) -> None:
        ends = list(LINE_END.finditer(text))
        self._text = text
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]
        self.newline = ends[0].group() if ends else "\n"

    @property
    def count(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        return self._text[self._starts[number - 1] : self._stops[number - 1]]

    def stop(self, number: int) -> int:
        """Where a line ends, without its line end; line 0 ends where the text starts."""
        return self._stops[number - 1] if number else 0

    def last_used(self, first: int, beyond: int, comments: bool = False) -> int:
        """The last line from ``first`` on, before ``beyond``, that is not blank and no comment unless these count."""
        ignored = () if comments else ("#",)
        numbers = range(beyond - 1, first, -1)
        used = (n for n in numbers if not self.is_blank(n) and not self.line(n).startswith(ignored))
        return next(used, first)

    def is_blank(self, number: int) -> bool:
        return number > self.count or not self.line(number).strip()


def _below(lines: _Lines, number: int, new: str) -> Insertion:
    """``new`` below a line; between blank lines if that is how the file is written."""
    newline = lines.newline
    blank = newline if number and lines.is_blank(number + 1) else ""
    body = new.strip("\n").replace("\n", newline)
    if not number:
        return Insertion(lines.stop(0), f"{body}{newline}")
    return Insertion(lines.stop(number), f"{newline}{blank}{body}")
