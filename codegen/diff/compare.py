"""Compares two states of the operators: every op that differs, with a finding for each thing that changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ..emit.kernel_texts import is_written
from ..model import Derivative, FunctionSchema, Model, Op
from . import calls
from .allowed import apply
from .arguments import argument_findings
from .by_hand import by_hand_changes
from .callers import caller_findings
from .code import CodeChanges, code_changes
from .derivatives import derivative_findings
from .history import former_names, judged
from .lost import lost_changes
from .marks import mark, marked_whole
from .merging import merged
from .properties import property_findings
from .renames import renames
from .report import Finding, OpChange, Report
from .results import alias_findings, result_findings
from .rules import RULES
from .state import State
from .subject import Subject


def compare(base: State, head: State, today: date) -> Report:
    """The report; ``today`` decides which entries of the allow-list have expired."""
    code = code_changes(base.model, head.model)
    by_hand = by_hand_changes(base, head, code)
    found = [*_changed_ops(base, head, code), *code.shared, *by_hand.changes, *lost_changes(base, head)]
    changes, list_errors = apply(base, head, found, today)
    review = base.review if base.review.is_there else head.review
    order = {name: position for position, name in enumerate(head.schemas)}
    unchanged = len(base.schemas) - sum(change.old_schema is not None for change in changes)
    return Report(
        base.name,
        head.name,
        tuple(sorted(merged(changes), key=lambda change: (-change.verdict, order.get(change.op, len(order))))),
        unchanged,
        tuple(_notes(base, head)),
        (*list_errors, *map(str, head.review.errors)),
        review.severities,
    )


def _notes(base: State, head: State) -> Iterator[str]:
    for state in (base, head):
        if state.model is None:
            yield (
                f"{state.name} is a snapshot, which has only schemas: "
                "derivatives, dtypes, shapes, backends and tags were not compared"
            )


def _changed_ops(base: State, head: State, code: CodeChanges) -> Iterator[OpChange]:
    removed = [schema for name, schema in base.schemas.items() if name not in head.schemas]
    added = [schema for name, schema in head.schemas.items() if name not in base.schemas]
    known = former_names(removed, head)
    others = [schema for schema in removed if schema.full_name not in known]
    new_names = {
        **known,
        **renames(others, [schema for schema in added if schema.full_name not in known.values()], base, head),
    }
    for name, schema in base.schemas.items():
        new = head.schemas.get(new_names.get(name, name))
        change = (
            _removed(schema, base, head)
            if new is None
            else _changed(_subject(schema, new, base, head), base, head, code)
        )
        if change is not None:
            yield change
    for schema in added:
        if schema.full_name not in new_names.values():
            yield _added(schema, head)


def _subject(old: FunctionSchema, new: FunctionSchema, base: State, head: State) -> Subject:
    return Subject(old, new, base.op(old.full_name), head.op(new.full_name))


# -------------------- ops that only one state has --------------------


def _removed(schema: FunctionSchema, base: State, head: State) -> OpChange:
    op = base.op(schema.full_name)
    others = (name for name, other in head.schemas.items() if other.name == schema.name)
    caller = calls.stops_working(calls.plain_call(op, schema), others)
    rule, whole = RULES["S001"], marked_whole(str(schema))
    remedy = _variant_remedy(op, head) or rule.remedy
    location = schema.location if op else None
    finding = Finding(rule, schema.full_name, "the op is removed", caller, remedy, whole, None, location)
    return OpChange(schema.full_name, op.family if op else "", whole, None, (finding,))


def _variant_remedy(op: Op | None, head: State) -> str:
    """What brings a variant back whose op is still there."""
    if op is None or op.derived_from is None or op.derived_from not in head.schemas:
        return ""
    return f"keep `{op.kind}` in `autogen` of `{op.derived_from}`"


def _added(schema: FunctionSchema, head: State) -> OpChange:
    op = head.op(schema.full_name)
    whole = marked_whole(str(schema))
    location = schema.location if op else None
    message = f"the op is added{_implementation(op, head.model)}" if op and head.model else "the op is added"
    finding = Finding(RULES["S002"], schema.full_name, message, "", "", None, whole, location)
    return OpChange(schema.full_name, op.family if op else "", None, whole, (finding,))


def _implementation(op: Op, model: Model) -> str:
    """What a reviewer wants to know first: how it is computed, and whether it is differentiated."""
    if op.derived_from:
        return f": a form of `{op.derived_from}`"
    if op.is_composite:
        return ": it is written in other ops"
    kernels = [name if is_written(model, name, op) else f"{name} (to be written)" for name in op.dispatch or ()]
    return f": {_gradient(model.derivative_of(op))}, with kernels for {', '.join(kernels)}"


def _gradient(derivative: Derivative | None) -> str:
    if derivative is None or not derivative.edges:
        return "not differentiable"
    by = f"differentiable by {calls.quoted(argument.name for argument in derivative.edges)}"
    if any(formula.kind == "not_implemented" for formula in derivative.backward):
        return f"{by} (formulas to be written)"
    kept = [use.value.expression for use in derivative.saved if use.value.kind in ("input", "output")]
    return f"{by}, keeps {calls.quoted(kept)} until backward" if kept else f"{by}, keeps no tensor"


# -------------------- ops that both states have --------------------


def _changed(subject: Subject, base: State, head: State, code: CodeChanges) -> OpChange | None:
    findings = [*judged(subject, [*_findings(subject, base, head), *code.by_op.get(subject.name, ())])]
    if not findings:
        return None
    old, new = mark(str(subject.old), str(subject.new))
    op = subject.new_op or subject.old_op
    worst_first = sorted(findings, key=lambda finding: -finding.rule.verdict)
    return OpChange(subject.name, op.family if op else "", old, new, tuple(worst_first))


def _findings(subject: Subject, base: State, head: State) -> Iterator[Finding]:
    yield from _renamed(subject)
    if str(subject.old) != str(subject.new):
        yield from argument_findings(subject)
        yield from result_findings(subject)
        yield from alias_findings(subject)
    if base.model is not None and head.model is not None:
        yield from caller_findings(subject, head.model)
        yield from derivative_findings(subject, base.model, head.model)
        yield from property_findings(subject, base.model, head.model)


def _renamed(subject: Subject) -> Iterator[Finding]:
    old, new = subject.old, subject.new
    where = new.location
    if old.name != new.name:
        now = calls.plain_call(subject.new_op or subject.old_op, new)
        caller = f"`{subject.call()}` stops working: it is `{now}`"
        message = f"the op is now called `{new.full_name}`"
        yield subject.changed("S003", message, old.full_name, new.full_name, where, caller)
    elif old.overload != new.overload:
        caller = f"a saved program that calls `{old.full_name}` cannot be loaded"
        message = f"the overload is now called `{new.full_name}`"
        yield subject.changed("S004", message, old.full_name, new.full_name, where, caller)
        yield subject.harmless(f"`{subject.call()}` finds the overload by its arguments", where)
