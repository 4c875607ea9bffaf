"""What containers are given: positions in them, and pairs of names and values."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sized
from typing import Any, cast


def position(index: Any, count: int) -> int:
    """A list index counted from the front."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count


def pairs_of(values: Any, owner: str) -> list[Any]:
    """The pairs that `update` is given, as a mapping or in a row."""
    if hasattr(values, "items"):
        return list(values.items())
    return [_checked_pair(number, pair, owner) for number, pair in enumerate(values)]


def _checked_pair(number: int, pair: Any, owner: str) -> Any:
    if not isinstance(pair, Iterable):
        raise TypeError(f"{owner} update sequence element #{number} should be Iterable; is{type(pair).__name__}")
    count = len(cast(Sized, pair))
    if count != 2:
        raise ValueError(f"{owner} update sequence element #{number} has length {count}; 2 is required")
    return pair
