"""Defaults that a schema and a hand-written function both state: whether they are the same."""

from __future__ import annotations

import ast

from ..model import Argument

# What schemas call by a name, and the number that it is.
_NAMED = {"Mean": "1", "Sum": "2"}


def is_literal(default: ast.expr) -> bool:
    return _value(default) is not _UNKNOWN


def differs(argument: Argument, default: str) -> bool:
    """Whether a default, written in Python, is surely another one than that of the schema."""
    stated, written = _value(_NAMED.get(argument.default or "", argument.default or "")), _value(default)
    if (
        stated is _UNKNOWN
        or written is _UNKNOWN
        or written is None
        or isinstance(stated, str) != isinstance(written, str)
    ):
        return False  # None may stand for any default that the function finds itself, a word for a number
    if stated is None and written is False:
        return False  # which is how a flag is left out in Python
    if argument.type.is_list:
        return _elements(stated) != _elements(written)
    return stated != written or isinstance(stated, bool) != isinstance(written, bool)


_UNKNOWN = object()


def _value(source: str | ast.expr) -> object:
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return _UNKNOWN


def _elements(value: object) -> tuple[object, ...]:
    """The elements of a list; one stands for as many as there are, ``int[2] stride=1``."""
    elements = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return elements[:1] if len(set(elements)) == 1 else elements
