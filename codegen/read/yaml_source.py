"""YAML with a place in the file for every key and value.

Files are composed by libyaml when PyYAML has it, never constructed: every scalar stays the text that was written, so
that ``no`` is a word and not False. Whatever is wrong with a file becomes a diagnostic.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeGuard, cast

import yaml

from ..errors import LINE_END, Problems
from ..model import Location

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 10
_TAB_INDENT = re.compile(r"^ *\t", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar: its text, and where it starts. ``column_shift`` is None when offsets in the text cannot be located."""

    text: str
    location: Location
    column_shift: int | None = 0

    def at(self, offset: int) -> Location:
        """The place of ``text[offset]``; the start of the scalar when it is folded over several lines."""
        if self.column_shift is None:
            return self.location
        start = self.location
        return Location(start.file, start.line, start.column + self.column_shift + offset)

    def words(self) -> Iterator[Scalar]:
        """The comma-separated words, each with its own place; an empty word stays, as an empty text."""
        for match in re.finditer(r"[^,]+|(?<=,)(?=,)|(?<=,)$|^$", self.text):
            word = match.group()
            offset = match.start() + len(word) - len(word.lstrip())
            yield Scalar(word.strip(), self.at(offset))


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping with text keys, each key once."""

    items: tuple[tuple[Scalar, Node], ...]
    location: Location

    def get(self, key: str) -> Node | None:
        return next((value for name, value in self.items if name.text == key), None)

    def text(self, key: str) -> Scalar | None:
        """The value of ``key`` if it is there and a scalar."""
        value = self.get(key)
        return value if isinstance(value, Scalar) else None

    def key(self, key: str) -> Scalar:
        return next(name for name, _ in self.items if name.text == key)


Node: TypeAlias = Scalar | Sequence | Mapping


def read_text(path: Path, file: str, problems: Problems) -> str | None:
    """The text of a file, known to ``problems`` under the name ``file``; None when it cannot be read."""
    start = Location(file, 1, 1)
    try:
        data = problems.unsaved[file] if file in problems.unsaved else _content(path)
    except OSError as error:
        problems.add("E001", f"cannot read {file}: {error.strerror}", start)
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"{file} is not UTF-8: byte 0x{data[error.start]:02x}"
        problems.add("E002", message, Location(file, line, column), "save the file as UTF-8")
        return None
    problems.know(file, text)
    return text


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "it is a pipe or a device")  # reading may never end
    return path.read_bytes()


def read_yaml(path: Path, file: str, problems: Problems) -> Node | None:
    """The document in a file; None, with a diagnostic, when there is none."""
    text = read_text(path, file, problems)
    if text is None or _has_tabs(text, file, problems):
        return None
    try:
        return _Reader(text, file, problems).document()
    except yaml.YAMLError as error:
        _report_yaml_error(error, text, file, problems)
        return None


def _has_tabs(text: str, file: str, problems: Problems) -> bool:
    for match in _TAB_INDENT.finditer(text):
        location = _locate(text, match.end() - 1, file)
        problems.add("E003", "tab in the indentation", location, "YAML indents with spaces only")
    return _TAB_INDENT.search(text) is not None


def _locate(text: str, offset: int, file: str) -> Location:
    before = LINE_END.split(text[:offset])
    return Location(file, len(before), len(before[-1]) + 1)


_YAML_HINT = "check indentation, colons, quotes and brackets here and on the line above"
# Where what is wrong begins before the place at which the parser gives up, by what it was doing.
_REMEDIES = {
    "while scanning a simple key": "write a space behind the colon: 'key: value'",
    "while scanning a quoted scalar": "close the quote that begins here",
    "while parsing a flow mapping": "close the bracket that begins here, and put commas between what is in it",
    "while parsing a flow sequence": "close the bracket that begins here, and put commas between what is in it",
}


# The same by what the parser met.
_GENERAL_REMEDIES = {
    "mapping values are not allowed": (
        "put a value that has ': ' in it in quotes; or check the indentation here and on the line above"
    ),
    "block sequence entries are not allowed": (
        "put a value that begins with '- ' in quotes, or remove the space behind the sign"
    ),
}


def _report_yaml_error(error: yaml.YAMLError, text: str, file: str, problems: Problems) -> None:
    context = getattr(error, "context", None)
    hint = _REMEDIES.get(context or "")
    marks = [getattr(error, name, None) for name in ("problem_mark", "context_mark")]
    mark = (marks[1] if hint else None) or marks[0] or marks[1]
    if mark is not None:
        location = problems.inside(Location(file, mark.line + 1, mark.column + 1))
    else:
        location = _locate(text, _offset(text, getattr(error, "position", 0)), file)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be parsed"
    message = f"not YAML: {f'{context}: ' if context else ''}{reason}"
    general = (remedy for start, remedy in _GENERAL_REMEDIES.items() if reason.startswith(start))
    problems.add("E004", message, location, hint or next(general, _YAML_HINT))


def _offset(text: str, position: int) -> int:
    """The index of a character at the position where reading failed, which libyaml counts in bytes."""
    return len(text.encode()[:position].decode(errors="ignore")) if _LOADER is not yaml.SafeLoader else position


class _Reader:
    """Builds our nodes from the parser's events, refusing what the files have no use for.

    PyYAML's own composer is not used: its C version overflows the stack on a deeply nested file.
    """

    def __init__(self, text: str, file: str, problems: Problems) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._file = file
        self._problems = problems

    def document(self) -> Node | None:
        """The only document; None when there is none, or a second one, or when it is too deep to go on reading."""
        first = next((event for event in self._events if isinstance(event, yaml.NodeEvent)), None)
        if first is None or isinstance(first, yaml.ScalarEvent) and not first.value:
            start = Location(self._file, 1, 1)
            self._problems.add("E005", f"{self._file} is empty", start, "it must be a list of entries ('- key: value')")
            return None
        root = self._node(first, 0)
        for event in self._events if root is not None else ():
            if isinstance(event, yaml.DocumentStartEvent):
                self._refuse("a second YAML document ('---')", event, "keep all entries in one list")
                return None
        return root

    def _node(self, event: yaml.Event, depth: int) -> Node | None:
        """The node that starts with ``event``; None when it is nested too deeply."""
        if depth > _MAX_DEPTH:
            self._refuse("such deep nesting", event, "an entry is a flat mapping")
            return None
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._refuse(
                "a YAML anchor or alias", event, "write the value out; one that begins with * or & needs quotes"
            )
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(event, depth)
        text = event.value if isinstance(event, yaml.ScalarEvent) else ""
        return Scalar(text, self._location(event), _column_shift(event))

    def _sequence(self, start: yaml.Event, depth: int) -> Sequence | None:
        items: list[Node] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            item = self._node(event, depth + 1)
            if item is None:
                return None
            items.append(item)
        return Sequence(tuple(items), self._location(start))

    def _mapping(self, start: yaml.Event, depth: int) -> Mapping | None:
        items: dict[str, tuple[Scalar, Node]] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1) if key is not None else None
            if key is None or value is None:
                return None
            if self._is_new_key(key, items):
                items[key.text] = (key, value)
        return Mapping(tuple(items.values()), self._location(start))

    def _is_new_key(self, key: Node, items: dict[str, tuple[Scalar, Node]]) -> TypeGuard[Scalar]:
        if not isinstance(key, Scalar):
            self._problems.add("E006", "a key must be a word", key.location, "write 'key: value'")
            return False
        if key.text in items:
            first = items[key.text][0].location
            hint = f"it is already given on line {first.line}"
            if key.text == next(iter(items)) and key.location.line > first.line:
                hint += f"; a new entry starts with '- {key.text}:'"
            self._problems.add("E011", f"duplicate key '{key.text}'", key.location, hint)
        return key.text not in items

    def _refuse(self, what: str, event: yaml.Event, hint: str) -> None:
        self._problems.add("E006", f"{what} is not supported here", self._location(event), hint)

    def _location(self, event: yaml.Event) -> Location:
        start, _ = _marks(event)
        return Location(self._file, start.line + 1, start.column + 1)


def _column_shift(event: yaml.Event) -> int | None:
    """How far a scalar's text starts behind its mark, when text and source agree character by character."""
    if not isinstance(event, yaml.ScalarEvent):
        return None
    start, end = _marks(event)
    width = end.index - start.index
    quotes = 1 if event.style in ("'", '"') else 0
    return quotes if event.style != "|" and width == len(event.value) + 2 * quotes else None


def _marks(event: yaml.Event) -> tuple[yaml.Mark, yaml.Mark]:
    """Where an event starts and ends; the parser always gives both."""
    return cast(yaml.Mark, event.start_mark), cast(yaml.Mark, event.end_mark)
