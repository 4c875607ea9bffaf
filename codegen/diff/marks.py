"""Marks what differs between two texts, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from .report import Marked

_TOKEN = re.compile(r"\w+(?:\.\d+)?|\s+|->|.", re.DOTALL)
Span = tuple[int, int]


def mark(old: str, new: str) -> tuple[Marked, Marked]:
    """Both texts, each with the parts that the other has not."""
    before, after = _words(old), _words(new)
    changes = [change for change in SequenceMatcher(None, before, after, False).get_opcodes() if change[0] != "equal"]
    return (
        Marked(old, _spans(before, ((start, end) for _, start, end, _, _ in changes))),
        Marked(new, _spans(after, ((start, end) for _, _, _, start, end in changes))),
    )


def marked_whole(text: str) -> Marked:
    """A text that exists on one side only."""
    return Marked(text, ((0, len(text)),) if text else ())


def _words(text: str) -> list[str]:
    return [match.group() for match in _TOKEN.finditer(text)]


def _spans(words: list[str], ranges: Iterable[Span]) -> tuple[Span, ...]:
    """The positions of ranges of words, without empty ones; those that only white space separates become one."""
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    found = [(ends[start], ends[end]) for start, end in ranges if start < end]
    return tuple(_joined("".join(words), found))


def _joined(text: str, spans: list[Span]) -> Iterator[Span]:
    if not spans:
        return
    start, end = spans[0]
    for next_start, next_end in spans[1:]:
        if text[end:next_start].strip():
            yield start, end
            start = next_start
        end = next_end
    yield start, end
