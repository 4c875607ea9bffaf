"""Reads the decompositions of ops.yaml: ops that are an expression of other ops."""

from __future__ import annotations

from dataclasses import replace

from ..errors import Problems
from ..model import Formula, Op, grouped
from ..model.function_names import overload_function
from ..sources.call_forms import form_of_schema
from ..sources.hand_written import HandWritten
from .formula import read_formula
from .known_calls import known_calls
from .op_entries import OpEntry
from .scope import CONSTANTS, Scope
from .yaml_source import Scalar


def with_decompositions(entries: list[OpEntry], hand_written: HandWritten, problems: Problems) -> list[OpEntry]:
    """The entries, whose ops know their decompositions. These can name any op, so that all have been read before."""
    if not any("decomposition" in entry.values for entry in entries):
        return entries
    reader = _Reader(entries, hand_written, problems)
    return [reader.entry(entry) for entry in entries]


class _Reader:
    def __init__(self, entries: list[OpEntry], hand_written: HandWritten, problems: Problems) -> None:
        calls = known_calls(entries, hand_written)
        ops = [op for entry in entries for op in entry.ops if op.kind != "out"]
        self._groups = grouped((op.schema.name, op) for op in ops)
        overloads = {self._function(op): (form_of_schema(op.schema, method=False),) for op in ops}
        self._functions = {**overloads, **calls.functions}
        self._attributes = calls.attributes
        self._hand_written = hand_written
        self._problems = problems

    def entry(self, entry: OpEntry) -> OpEntry:
        source = entry.scalar("decomposition")
        if source is None or not entry.ops:
            return entry
        formula = self._formula(source, entry.op)
        own = self._function(entry.op)
        if own in formula.ops:
            message = f"the decomposition of {entry.op.name} calls {own}, which it is"
            self._problems.add("E074", message, source.location, "write it in other ops")
        return replace(entry, ops=tuple(replace(op, decomposition=formula) for op in entry.ops))

    def _function(self, op: Op) -> str:
        """Each overload is called by the name of its own function: `sum_dim_IntList`."""
        return overload_function(op, self._groups)

    def _formula(self, source: Scalar, op: Op) -> Formula:
        scope = Scope(
            op.schema,
            self._hand_written.parts,
            self._functions,
            op.schema.result_names,
            self._attributes,
            self._hand_written.project.decomposition_file,
            constants=CONSTANTS,
        )
        return read_formula(source, (), "decomposition", scope, self._problems)
