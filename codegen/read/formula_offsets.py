"""Where in the text of a formula something is that Python's parser has found."""

from __future__ import annotations


def syntax_offset(text: str, error: SyntaxError) -> int:
    """Where Python found the error; it reports an unexpected end as offset 0 or one beyond."""
    if error.lineno != 1 or error.offset is None:
        return 0
    last = len(text) - 1
    return min(error.offset - 1, last) if error.offset else last


def character_offset(text: str, line: int, byte_column: int) -> int:
    """The offset in ``text`` of a position that ast counts in lines and UTF-8 bytes."""
    lines = text.split("\n")
    before = sum(len(each) + 1 for each in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:byte_column].decode())
