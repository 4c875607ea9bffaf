"""The mark of what keeps its interface from release to release."""

from collections.abc import Callable
from typing import Any, TypeVar

Marked = TypeVar("Marked")

_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[Marked], Marked]:
    """A decorator that notes whether a function or class is backward compatible."""

    def mark(fn: Marked) -> Marked:
        _MARKED_WITH_COMPATIBILITY.setdefault(fn)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(fn)
        return fn

    return mark
