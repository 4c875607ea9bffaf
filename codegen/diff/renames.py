"""Recognises renamed ops: one is removed, and one of equal shape and with a close name is added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher

from ..model import FunctionSchema

_CLOSE = 0.6


def renames(removed: Iterable[FunctionSchema], added: Iterable[FunctionSchema]) -> Mapping[str, str]:
    """New names by old ones; the closest go together, and every op is used once."""
    candidates: dict[str, list[FunctionSchema]] = {}
    for schema in added:
        candidates.setdefault(_shape(schema), []).append(schema)
    pairs = ((old, new) for old in removed for new in candidates.get(_shape(old), ()))
    found: dict[str, str] = {}
    for old, new in sorted(pairs, key=lambda pair: -_closeness(*pair)):
        if _closeness(old, new) >= _CLOSE and old.full_name not in found and new.full_name not in found.values():
            found[old.full_name] = new.full_name
    return found


def _shape(schema: FunctionSchema) -> str:
    """The schema without its name, but telling an in-place op from others."""
    return str(replace(schema, base="", overload=""))


def _closeness(old: FunctionSchema, new: FunctionSchema) -> float:
    if old.name == new.name:
        return 1.0
    return SequenceMatcher(None, old.full_name, new.full_name, False).ratio()
