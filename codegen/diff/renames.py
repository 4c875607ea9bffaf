"""Recognises renamed ops: one is removed, and one of equal shape is added, in its place or with a close name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher

from ..model import FunctionSchema
from .state import State

_CLOSE = 0.6
_SAME_PLACE = 2.0  # more than any name tells


def renames(
    removed: Iterable[FunctionSchema], added: Iterable[FunctionSchema], base: State, head: State
) -> Mapping[str, str]:
    """New names by old ones; the closest go together, and every op is used once."""
    before, after = _places(base, head), _places(head, base)
    candidates: dict[str, list[FunctionSchema]] = {}
    for schema in added:
        candidates.setdefault(_shape(schema), []).append(schema)
    pairs = ((old, new) for old in removed for new in candidates.get(_shape(old), ()))
    found: dict[str, str] = {}
    rated = [(_SAME_PLACE * _stays(old, new, before, after) or _closeness(old, new), old, new) for old, new in pairs]
    for closeness, old, new in sorted(rated, key=lambda rated_pair: -rated_pair[0]):
        if closeness >= _CLOSE and old.full_name not in found and new.full_name not in found.values():
            found[old.full_name] = new.full_name
    return found


def _places(state: State, other: State) -> Mapping[str, tuple[str, str | None]]:
    """The family of every op, and the op above it that the other state has as well; a snapshot has no such order."""
    above: str | None = None
    places = {}
    for name, op in state.model.ops.items() if state.model and other.model else ():
        places[name] = (op.family, above)
        if name in other.schemas:
            above = name
    return places


def _stays(
    old: FunctionSchema,
    new: FunctionSchema,
    before: Mapping[str, tuple[str, str | None]],
    after: Mapping[str, tuple[str, str | None]],
) -> bool:
    return old.full_name in before and before[old.full_name] == after.get(new.full_name)


def _shape(schema: FunctionSchema) -> str:
    """The schema without its name, but telling an in-place op from others."""
    return str(replace(schema, base="", overload=""))


def _closeness(old: FunctionSchema, new: FunctionSchema) -> float:
    if old.name == new.name:
        return 1.0
    return SequenceMatcher(None, old.full_name, new.full_name, False).ratio()
