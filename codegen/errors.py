"""Diagnostics: what is wrong in the input, where, and what to do about it.

All problems of a run are collected in one ``Problems`` and reported together. ``CODES`` is the table of stable codes;
docs/errors.md is printed from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from codegen.model import Location


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, with the line of source it points at."""

    code: str
    message: str
    location: Location
    source_line: str = ""
    hint: str = ""

    def __str__(self) -> str:
        lines = [f"{self.location}: error[{self.code}] {self.message}"]
        if self.source_line:
            lines += [f"  {self.source_line}", f"  {self._caret()}"]
        if self.hint:
            lines.append(f"help: {self.hint}")
        return "\n".join(lines)

    def _caret(self) -> str:
        """A caret under the column; tabs are kept so that it lines up."""
        before = self.source_line[: self.location.column - 1]
        return "".join("\t" if character == "\t" else " " for character in before) + "^"


class InvalidInput(Exception):
    """The input has problems; ``diagnostics`` lists all of them, in the order of the files."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__("\n\n".join(map(str, diagnostics)))


class Problems:
    """Collects the diagnostics of a run."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}
        self._found: dict[Diagnostic, None] = {}

    def know(self, file: str, text: str) -> None:
        """Remember the text of a file, so that diagnostics can show its lines."""
        self._lines[file] = text.splitlines()

    def add(self, code: str, message: str, location: Location, hint: str = "") -> None:
        if code not in CODES:
            raise KeyError(f"{code} is not in the table of codes")
        self._found[Diagnostic(code, message, location, self._line(location), hint)] = None

    def _line(self, location: Location) -> str:
        lines = self._lines.get(location.file, [])
        return lines[location.line - 1] if location.line <= len(lines) else ""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(sorted(self._found, key=lambda diagnostic: (diagnostic.location, diagnostic.code)))

    def __bool__(self) -> bool:
        return bool(self._found)

    def raise_if_any(self) -> None:
        if self._found:
            raise InvalidInput(self.diagnostics)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A hint that names the closest candidate, or nothing."""
    close = get_close_matches(word, sorted(set(candidates)), n=1)
    return f"did you mean '{close[0]}'?" if close else ""


CODES: dict[str, str] = {}
