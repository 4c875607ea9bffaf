"""What `help()` shows of the functions of ops: the sentences of ops.yaml, and the calls."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from ..model import Op
from .kernel_texts import WIDTH


def documentation(ops: Iterable[Op], calls: Iterable[str]) -> tuple[str, ...]:
    """The lines of a docstring: what the first of the overloads that have sentences computes, and the calls."""
    told = next((op for op in ops if op.doc), None)
    if told is None:
        return tuple(calls)
    if told.kind == "inplace" and told.derived_from is not None:
        return f"`{told.schema.name.removesuffix('_')}` in place: the result is written into the tensor.", *calls
    written = " The result is written into `out`." if told.kind == "out" else ""
    return *wrap(f"{told.doc}{written}", WIDTH, break_long_words=False, break_on_hyphens=False), "", *calls
