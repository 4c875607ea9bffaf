"""Diagnostics: what is wrong in the input, where, and what to do about it.

All problems of a run are collected in one ``Problems`` and reported together. ``CODES`` is the table of stable codes;
docs/errors.md is printed from it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from .model import Location

# Bytes of a message and of its advice, and of the line of source: with its place, all of it stays below 2 KB.
_MOST_SHOWN = 640
_MOST_OF_LINE = 320
_MOST_LISTED = 200
_MOST_OVERLOADS = 4
# Where YAML ends a line. Every parser of ours counts lines in this way.
LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, with the line of source it points at."""

    code: str
    message: str
    location: Location
    source_line: str = ""
    hint: str = ""

    def __str__(self) -> str:
        lines = [_printable(f"{self.location}: error[{self.code}] {_shortened(self.message)}")]
        if self.source_line:
            lines += self._excerpt()
        if self.hint:
            lines.append(_printable(f"help: {_shortened(self.hint)}"))
        return "\n".join(lines)

    def _excerpt(self) -> list[str]:
        """The line, or the part of a very long one around the column, and a caret. Tabs stay, so that it lines up."""
        most = _MOST_OF_LINE if self.source_line.isascii() else _MOST_OF_LINE // 4
        start = max(self.location.column - most // 2, 0) if len(self.source_line) > most else 0
        shown = self.source_line[start : start + most]
        before = shown[: self.location.column - 1 - start]
        caret = "".join("\t" if character == "\t" else " " for character in before) + "^"
        return [f"  {_printable(shown)}", f"  {caret}"]


def _shortened(text: str) -> str:
    """A text without its middle if it is very long: it quotes something that was never meant to be written."""
    half = _MOST_SHOWN // 2 if text.isascii() else _MOST_SHOWN // 8
    return text if len(text.encode(errors="replace")) <= _MOST_SHOWN else f"{text[:half]} ... {text[-half:]}"


def _printable(line: str) -> str:
    """The line without characters that could confuse a terminal, each replaced by one that does not."""
    return "".join(character if character.isprintable() or character == "\t" else "\ufffd" for character in line)


class InvalidInput(Exception):
    """The input has problems; ``diagnostics`` lists all of them, in the order of the files."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        rest = len(diagnostics) - _MOST_LISTED
        more = [f"... and {rest} more"] if rest > 0 else []
        super().__init__("\n\n".join([*map(str, diagnostics[:_MOST_LISTED]), *more]))


class Problems:
    """Collects the diagnostics of a run. Those of the ``first`` files come first: they may be the cause of others.

    ``unsaved`` is the content of files that are not on disk, or not like this; ``read_text`` looks there.
    """

    def __init__(self, first: tuple[str, ...] = (), unsaved: Mapping[str, bytes] | None = None) -> None:
        self._first = first
        self.unsaved = unsaved or {}
        self._lines: dict[str, list[str]] = {}
        self._found: dict[Diagnostic, None] = {}

    def know(self, file: str, text: str) -> None:
        """Remember the text of a file, so that diagnostics can show its lines."""
        self._lines[file] = LINE_END.split(text)

    def add(self, code: str, message: str, location: Location, hint: str = "") -> None:
        if code not in CODES:
            raise KeyError(f"{code} is not in the table of codes")
        self._found[Diagnostic(code, message, location, self._line(location), hint)] = None

    def inside(self, location: Location) -> Location:
        """The location, or the end of its file if it is beyond: where parsers see that something is missing."""
        lines = self._lines[location.file]
        if location.line <= len(lines):
            return location
        return Location(location.file, len(lines), len(lines[-1]) + 1)

    def _line(self, location: Location) -> str:
        lines = self._lines.get(location.file, [])
        return lines[location.line - 1] if location.line <= len(lines) else ""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(sorted(self._found, key=lambda found: (self._rank(found), found.location, found.code)))

    def _rank(self, diagnostic: Diagnostic) -> int:
        file = diagnostic.location.file
        return self._first.index(file) if file in self._first else len(self._first)

    def __len__(self) -> int:
        return len(self._found)

    def raise_if_any(self, but_for: Collection[str] = ()) -> None:
        if any(found.code not in but_for for found in self._found):
            raise InvalidInput(self.diagnostics)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A hint that names the closest candidate, or nothing."""
    close = _closest(word, candidates)
    return f"did you mean '{close}'?" if close else ""


def _closest(word: str, candidates: Iterable[str]) -> str:
    if len(word) >= _MOST_SHOWN:
        return ""
    known = sorted(set(candidates))
    same = [each for each in known if each.casefold() == word.casefold()]
    close = same or get_close_matches(word, known, n=1)
    return close[0] if close else ""


def did_you_mean_op(name: str, ops: Iterable[str]) -> str:
    """The same for the full name of an op: the overload may be all that is missing, so bases are compared first."""
    overloads: dict[str, list[str]] = {}
    for op in ops:
        overloads.setdefault(op.partition(".")[0], []).append(op)
    base, _, overload = name.partition(".")
    close = base if base in overloads else _closest(base, overloads)
    found = overloads.get(close, [])
    meant = _closest(f"{close}.{overload}", found) if overload else ""
    shown = [meant] if meant else found[:_MOST_OVERLOADS]
    return f"did you mean {' or '.join(map(repr, shown))}?" if shown else ""


CODES = {
    "E001": "a file cannot be read",
    "E002": "a file is not UTF-8",
    "E003": "a tab in the indentation",
    "E004": "a file is not YAML",
    "E005": "a file is empty",
    "E006": "a part of YAML that these files do not use: anchors, several documents, keys that are no words",
    "E010": "the file is not a list of entries, or an entry is not a mapping",
    "E011": "a key is given twice",
    "E012": "an unknown key",
    "E013": "a required key is missing",
    "E014": "a value has the wrong form",
    "E015": "a value is not one of the allowed words",
    "E016": "a word is given twice in one value",
    "E020": "a schema string does not follow the grammar",
    "E021": "an unknown type",
    "E022": "a default does not fit its type",
    "E023": "arguments in an order, or with names, that Python does not allow",
    "E024": "an alias annotation that does not fit the rest of the schema",
    "E025": "an in-place schema that does not write to self and return it",
    "E026": "an out= schema whose outputs are missing, in another order, or not at the end",
    "E027": "an in-place or out= schema that does not belong to the functional one",
    "E028": "a name that no function can have, or that is kept for something else",
    "E029": "a schema that is not spelled in the canonical way",
    "E030": "an op is listed twice",
    "E031": "an op with several implementations, or none: dispatch, composite or decomposition",
    "E032": "a view op without an alias annotation, or one that is not what its annotation says",
    "E033": "an op that returns an alias of its input without saying what kind of view it is",
    "E034": "numbers names something that is no tensor argument",
    "E035": "a Python operator bound to two ops, or to an op that cannot have it",
    "E036": "a rule or function that the hand-written sources do not define",
    "E037": "a variant given twice: by autogen and by its schema",
    "E038": "a kernel with another signature than its op",
    "E039": "a method without a self argument",
    "E040": "keys that exclude or need each other",
    "E041": "overloads of one name in two families",
    "E042": "python_names names something that is no argument, or a name that another argument has",
    "E043": "aclnn is no call, or names what is no argument of the op",
    "E044": "a shape, promotion or batching rule that does not fit the arguments or results of the op",
    "E045": "samples that call the op with other arguments than it takes",
    "E046": "a kernel or composite function with another default than the schema",
    "E047": "a call in the library's own code of an op, or with an argument, that there is not",
    "E048": "an op with a CPU kernel that does not say which shape its results have",
    "E049": "an argument that is written, or on another device, or a result, that kernels cannot have",
    "E050": "a derivative of an op that ops.yaml does not list",
    "E051": "a derivative whose schema is not the one in ops.yaml",
    "E052": "a second derivative of an op",
    "E053": "a key that is neither an argument nor an output of the op",
    "E054": "a tensor argument without a formula",
    "E055": "a second formula for an argument or output",
    "E056": "output_differentiability does not fit the outputs",
    "E057": "a formula for an argument that is no tensor",
    "E058": "a derivative of an op that cannot have one",
    "E059": "a node name that is used twice or is no class name",
    "E060": "a formula, decomposition or scalar expression is not a Python expression",
    "E061": "an unknown name in a formula, decomposition or scalar expression",
    "E062": "a function or method is called with arguments that it does not take, or not at all",
    "E063": "grads[i] is out of range",
    "E064": "a formula mixes grad and grads",
    "E065": "a keyword that is not for this kind of formula",
    "E066": "a name that has no meaning in this kind of formula",
    "E067": "a formula of several arguments that gives another number of gradients",
    "E068": "auto_linear or auto_element_wise where it cannot be applied",
    "E069": "a part of Python that formulas, decompositions or scalar expressions cannot use",
    "E070": "a forward formula of an output that has no gradient",
    "E071": "a formula that is a constant",
    "E072": "an operator on bits, ^ & | ~ << >>, between numbers that are no integers",
    "E073": "a gradient for an argument that the op writes",
    "E074": "a decomposition that calls the op that it is",
    "E075": "a formula that gives something else than a gradient: a number, a function, a comparison",
    "E076": "a call in place, or one that leaves what can be differentiated",
    "E077": "an operation that its operands do not have: on None or a text, a slice of step 0, a tensor as a condition",
    "E078": "a number that no dtype holds, or a division by 0",
    "E079": "a comment inside of a formula",
    "E080": "a hand-written source file is not Python",
    "E081": "a function that is found in two files: a helper of formulas, or another function of a family",
    "E090": "a removal that is missing, or not behind the release that deprecates",
    "E091": "a deprecated call whose time is over",
    "E092": "an old call that cannot be told from a call of the op as it is now",
    "E093": "a replacement or an upgrade that is not an expression over the old arguments",
    "E094": "a replacement or an upgrade that does not call the op as it is",
    "E095": "old versions that are not numbered 1, 2, 3",
    "E096": "an old call or version that is given twice",
    "E097": "an old call whose self is keyword-only: it is passed by position",
    "E100": "there is no project here",
    "E101": "pyproject.toml is not TOML",
    "E102": "an unknown key in [tool.mindtorch-codegen]",
    "E103": "[tool.mindtorch-codegen] does not say which package it is about",
    "E104": "a setting has the wrong form",
    "E105": "a setting that another package or folder already has a claim to",
    "E106": "a key that is for mindtorch's own ops only",
    "E110": "an op that PyTorch does not have, or that cannot be looked up because PyTorch is not installed",
    "E111": "an op that is a form of a listed one",
    "E112": "an op to go after that is not listed",
    "E120": "an allowed break of a rule that there is not",
    "E121": "a day that is not written YYYY-MM-DD",
    "E122": "an allowed break whose time is over",
    "E123": "an allowed break that has not happened",
    "E130": "aclnn calls a function that the table of ACLNN functions does not have",
    "E131": "aclnn gives a function more or fewer arguments than it takes",
    "E132": "aclnn gives an argument in the place of another one",
    "E133": "aclnn gives an argument of another kind than the function takes",
    "E134": "aclnn leaves out an argument of the op, or a result",
    "E135": "a table of ACLNN functions with a line that is none",
}

SECTIONS = {
    "E00": "Files",
    "E01": "Entries",
    "E02": "Schema strings",
    "E03": "Ops",
    "E04": "Ops",
    "E05": "Derivatives",
    "E06": "Formulas",
    "E07": "Formulas",
    "E08": "Hand-written sources",
    "E09": "History of ops",
    "E10": "Projects",
    "E11": "Adding an op",
    "E12": "The list of allowed breaks",
    "E13": "Calls of ACLNN",
}
_PAGE_HEAD = """# Errors of the generator

`python -m codegen` reports every problem of a run at once, each with its place, the offending line and advice:

```
ops.yaml:12:3: error[E012] unknown key 'familly'
    familly: pointwise
    ^
help: did you mean 'family'?
```

A code keeps its meaning for ever. This page is printed from the table in `codegen/errors.py`.
"""


def errors_page() -> str:
    """docs/errors.md"""
    lines = [_PAGE_HEAD]
    for section in dict.fromkeys(SECTIONS.values()):
        lines += [f"## {section}", "", "| Code | Meaning |", "|---|---|"]
        lines += [f"| {code} | {meaning} |" for code, meaning in CODES.items() if SECTIONS[code[:3]] == section]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
