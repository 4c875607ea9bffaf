"""A set that keeps the order in which its elements came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import Any, TypeVar

Item = TypeVar("Item")
Other = TypeVar("Other")


class OrderedSet(MutableSet[Item]):
    """Has the methods of `set`; what they return is in the order of the operands."""

    __slots__ = ("_dict",)

    def __init__(self, iterable: Iterable[Item] | None = None) -> None:
        self._dict: dict[Item, None] = dict.fromkeys(iterable) if iterable is not None else {}

    def __contains__(self, elem: object) -> bool:
        return elem in self._dict

    def __iter__(self) -> Iterator[Item]:
        return iter(self._dict)

    def __len__(self) -> int:
        return len(self._dict)

    def __reversed__(self) -> Iterator[Item]:
        return reversed(self._dict)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({list(self)})"

    def __getstate__(self) -> list[Item]:
        return list(self)

    def __setstate__(self, state: list[Item]) -> None:
        self._dict = dict.fromkeys(state)

    def add(self, elem: Item) -> None:
        self._dict[elem] = None

    def discard(self, elem: Item) -> None:
        self._dict.pop(elem, None)

    def clear(self) -> None:
        self._dict.clear()

    def pop(self) -> Item:
        if not self:
            raise KeyError("pop from an empty set")
        return self._dict.popitem()[0]

    def copy(self) -> OrderedSet[Item]:
        return OrderedSet(self)

    def update(self, *others: Iterable[Item]) -> None:
        for other in others:
            self._dict.update(dict.fromkeys(other))

    def union(self, *others: Iterable[Item]) -> OrderedSet[Item]:
        found = self.copy()
        found.update(*others)
        return found

    def intersection(self, *others: Iterable[Any]) -> OrderedSet[Item]:
        kept = [set(other) for other in others]
        return OrderedSet(each for each in self if all(each in other for other in kept))

    def difference(self, *others: Iterable[Any]) -> OrderedSet[Item]:
        left_out = set().union(*others)
        return OrderedSet(each for each in self if each not in left_out)

    def symmetric_difference(self, other: Iterable[Item]) -> OrderedSet[Item]:
        own, others = self.difference(other), OrderedSet(other)
        return own.union(others.difference(self))

    def intersection_update(self, *others: Iterable[Any]) -> None:
        self._dict = self.intersection(*others)._dict

    def difference_update(self, *others: Iterable[Any]) -> None:
        self._dict = self.difference(*others)._dict

    def symmetric_difference_update(self, other: Iterable[Item]) -> None:
        self._dict = self.symmetric_difference(other)._dict

    def issubset(self, other: Iterable[Any]) -> bool:
        return self <= set(other)

    def issuperset(self, other: Iterable[Any]) -> bool:
        return self >= set(other)
