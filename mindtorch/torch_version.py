"""`TorchVersion`: the text of a version that compares as a version, with other texts and with tuples of numbers."""

from collections.abc import Callable, Iterable
from typing import Any

from mindtorch._support.lazy import lazy

__all__ = ["TorchVersion"]

_packaging: Any = lazy("packaging.version")


def _comparison(name: str) -> Callable[["TorchVersion", Any], Any]:
    as_text = getattr(str, name)

    def compare(self: "TorchVersion", other: Any) -> Any:
        text = other if isinstance(other, str) else _joined(other)
        try:
            return getattr(_packaging.Version(self), name)(_packaging.Version(text))
        except _packaging.InvalidVersion:  # then they are compared as texts
            return as_text(self, other)

    return compare


def _joined(parts: Any) -> str:
    """The text of a version that is given by its numbers; no version if it is anything else."""
    return ".".join([str(part) for part in parts]) if isinstance(parts, Iterable) else ""


class TorchVersion(str):
    """A version such as "2.13.0": a string, except that `<` and its kin compare numbers, as in `version >= (2, 1)`."""

    __slots__ = ()

    __lt__ = _comparison("__lt__")
    __le__ = _comparison("__le__")
    __eq__ = _comparison("__eq__")
    __ge__ = _comparison("__ge__")
    __gt__ = _comparison("__gt__")
    __hash__ = str.__hash__
