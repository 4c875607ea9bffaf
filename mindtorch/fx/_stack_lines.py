"""The innermost place in a stack that was noted as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class _ParsedStackTrace(NamedTuple):
    """A place in a program: the file, the line, the function and the text of the line."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self) -> str:
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def parse_stack_trace(
    stack_trace: str | None, filter_fn: Callable[[str, str, str], bool] | None = None
) -> _ParsedStackTrace | None:
    """The innermost place of a stack (of those that pass the filter), None if there is none."""
    if stack_trace is None:
        return None
    lines = stack_trace.strip().split("\n")
    for place in range(len(lines) - 2, -1, -1):
        found = re.match(r"^File \"(.+)\", line (\d+), in (.+)$", lines[place].strip())
        if found is not None:
            code = lines[place + 1].strip()
            if filter_fn is None or filter_fn(found[1], found[3], code):
                return _ParsedStackTrace(found[1], found[2], found[3], code)
    return None
