"""Which argument of the old schema is which of the new one."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Argument, FunctionSchema
from .compat import is_out, is_subtype


@dataclass(frozen=True, slots=True)
class Pair:
    """An argument before and after; the positions count all arguments of its schema."""

    old: Argument
    new: Argument
    old_at: int
    new_at: int

    @property
    def is_renamed(self) -> bool:
        return self.old.name != self.new.name


@dataclass(frozen=True, slots=True)
class Alignment:
    """The arguments that both schemas have, in the old order, and the positions of those that only one has."""

    pairs: tuple[Pair, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]


def align(old: FunctionSchema, new: FunctionSchema) -> Alignment:
    """Arguments belong together by name; those left over, if one has the place and type of another: it is renamed."""
    places = {argument.name: i for i, argument in enumerate(new.arguments)}
    partners = {i: places[argument.name] for i, argument in enumerate(old.arguments) if argument.name in places}
    for i in range(len(old.arguments)):
        if i not in partners:
            renamed = _renamed(old, new, i, partners)
            if renamed is not None:
                partners[i] = renamed
    taken = set(partners.values())
    return Alignment(
        tuple(Pair(old.arguments[i], new.arguments[j], i, j) for i, j in sorted(partners.items())),
        tuple(i for i in range(len(old.arguments)) if i not in partners),
        tuple(j for j in range(len(new.arguments)) if j not in taken),
    )


def _renamed(old: FunctionSchema, new: FunctionSchema, i: int, partners: dict[int, int]) -> int | None:
    """The place of the new name of the old argument ``i``: the same place, or the one behind the same neighbour."""
    behind_neighbour = partners.get(i - 1, -2) + 1
    for j in (i, behind_neighbour):
        if 0 <= j < len(new.arguments) and j not in partners.values() and _alike(old.arguments[i], new.arguments[j]):
            return j
    return None


def _alike(old: Argument, new: Argument) -> bool:
    """Whether one could be the other with a new name, and perhaps a wider or narrower type."""
    related = is_subtype(old.type, new.type) or is_subtype(new.type, old.type)
    return related and is_out(old) == is_out(new)
