"""Warnings that point at the line of the program that caused them, however deep in the library they are raised."""

import sys
import warnings

# Frames of these packages are no lines of programs: the library itself, and what runs its context managers.
_INSIDE = frozenset((__name__.partition(".")[0], "contextlib", "functools"))

_given: set[str] = set()  # the kinds of warnings that were given and come once
_always = False


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called the library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_once(message: str, category: type[Warning] = UserWarning, kind: str | None = None) -> None:
    """Warn the first time in a program, or every time after `set_warn_always(True)`, as torch does.

    `kind` stands for all messages of a kind whose texts differ.
    """
    kind = kind or message
    if _always or kind not in _given:
        _given.add(kind)
        warn(message, category)


def set_warn_always(b: bool) -> None:
    """Whether warnings that come once in a program come every time."""
    global _always
    _always = b


def is_warn_always_enabled() -> bool:
    return _always
