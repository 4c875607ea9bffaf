"""Warnings that point at the line of the program that caused them, however deep in the library they are raised."""

import sys
import warnings
from collections.abc import Callable
from threading import Lock
from types import FrameType

# Frames of these packages are no lines of programs: the library itself, and what runs its context managers.
_INSIDE = frozenset((__name__.partition(".")[0], "contextlib", "functools"))

_given: set[str] = set()  # the kinds of warnings that were given and come once
_always = False
_lock = Lock()
_lines: set[tuple[str, int, str]] = set()  # file, line and kind of the warnings that come once for each line


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called the library."""
    warnings.warn(message, category, stacklevel=_line_of_program()[0])


def _line_of_program(module: str = "") -> tuple[int, FrameType]:
    """The frame of the program, and its level for whoever has asked; `module` is one more that is no program."""
    level, frame = 0, sys._getframe()
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", ""), module):
        level, frame = level + 1, frame.f_back
    return level, frame


def _is_inside(name: str, module: str) -> bool:
    return name.partition(".")[0] in _INSIDE or name == module


def warn_once_a_line(make_warning: Callable[[], Warning], kind: str, module: str) -> None:
    """Give a warning of a kind the first time that each line of a program calls a function of a module."""
    level, frame = _line_of_program(module)
    line = frame.f_code.co_filename, frame.f_lineno, kind
    with _lock:
        is_new = line not in _lines
        _lines.add(line)
    if is_new:
        warning = make_warning()
        try:
            warnings.warn(warning, stacklevel=level)
        except type(warning):
            with _lock:
                _lines.discard(line)
            raise


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
