"""Warnings that point at the line of the program that caused them, however deep in the library they are raised."""

import sys
import warnings

# Frames of these packages are no lines of programs: the library itself, and what runs its context managers.
_INSIDE = frozenset((__name__.partition(".")[0], "contextlib", "functools"))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called the library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
