"""One op before and after, and how findings about it are made."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import FunctionSchema, Location, Op
from . import calls
from .marks import mark, marked_whole
from .report import Finding, Marked
from .rules import RULES


@dataclass(frozen=True, slots=True)
class Subject:
    """An op that both states have. The entries of ops.yaml are None where a snapshot has only the schema."""

    old: FunctionSchema
    new: FunctionSchema
    old_op: Op | None = None
    new_op: Op | None = None

    @property
    def name(self) -> str:
        """What the op was called: callers know that name, if it is renamed."""
        return self.old.full_name

    @property
    def caller_op(self) -> Op | None:
        """The entry that says how callers write the op: that of the old state, if it has one."""
        return self.old_op or self.new_op

    def changed(
        self,
        code: str,
        message: str,
        old: str | None,
        new: str | None,
        where: Location | None,
        caller: str = "",
        remedy: str = "",
    ) -> Finding:
        """A finding about a part of the op that is ``old`` before and ``new`` after; None where it is absent."""
        before, after = _marked(old, new)
        rule = RULES[code]
        return Finding(rule, self.name, message, caller, remedy or rule.remedy, before, after, where)

    def harmless(self, why: str, where: Location | None) -> Finding:
        """What the schema check refuses, but no Python caller notices."""
        return Finding(RULES["P001"], self.name, f"Python callers see nothing of it: {why}", location=where)

    def call(self) -> str:
        """An example of a call in the old state."""
        return calls.plain_call(self.caller_op, self.old)


def _marked(old: str | None, new: str | None) -> tuple[Marked | None, Marked | None]:
    if old is not None and new is not None:
        return mark(old, new)
    return (None if old is None else marked_whole(old)), (None if new is None else marked_whole(new))
