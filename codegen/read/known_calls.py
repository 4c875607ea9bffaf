"""What formulas and decompositions may call: the ops of the project and of the library, and the methods of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..sources.call_forms import ANY_CALL, CallForms, forms_by_name
from ..sources.hand_written import HandWritten
from .op_entries import OpEntry


@dataclass(frozen=True, slots=True)
class KnownCalls:
    """How functions and attributes of tensors are called. There are no ``attributes`` where Tensor is not known."""

    functions: Mapping[str, CallForms]
    attributes: Mapping[str, CallForms]


def known_calls(entries: Iterable[OpEntry], hand_written: HandWritten) -> KnownCalls:
    """Of an op whose entry cannot be read nothing is known but that it is there."""
    listed = list(entries)
    schemas = {op.name: op for entry in reversed(listed) for op in entry.ops}.values()
    unreadable = dict.fromkeys((entry.title.partition(".")[0] for entry in listed if not entry.ops), ANY_CALL)
    own = forms_by_name((op.schema for op in schemas), method=False)
    functions = {**hand_written.library_ops, **own, **unreadable}
    if not hand_written.methods:
        return KnownCalls(functions, {})
    methods = forms_by_name((op.schema for op in schemas if op.is_method), method=True)
    perhaps = {entry.op.schema.name: ANY_CALL for entry in listed if entry.ops and _has_wrong_variants(entry)}
    return KnownCalls(functions, {**methods, **perhaps, **unreadable, **hand_written.methods})


def _has_wrong_variants(entry: OpEntry) -> bool:
    """Whether it cannot be told if the op is a method; that has been reported."""
    return entry.yaml.get("variants") is not None and "variants" not in entry.values
