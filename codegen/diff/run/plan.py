"""Which ops a change can reach are run, and how: in which dtypes, whose gradients are held against differences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...model import Model, Op
from ..properties import DTYPES
from ..report import Report

_FEW = 60  # so many ops are run in all dtypes
_MOST_TIMED = 24
_USUAL = ("float32", "float64", "int64", "bool", "complex128")
_GRADIENTS = ("float64", "complex128")
_FORMULA_RULES = ("D012", "D050", "C005")
_NO_SAMPLES = (None, "none", "backward")  # those of the backward pass are run by the op that they belong to


@dataclass(frozen=True, slots=True)
class Plan:
    """``tasks``: what the workers compute. ``timed``: the ops whose speed and memory are measured, in the same order.

    ``left_out``: ops that the change reaches and that are not run, as they have no samples or are new.
    """

    tasks: tuple[dict[str, Any], ...]
    timed: tuple[str, ...]
    left_out: tuple[str, ...]


def make_plan(report: Report, old: Model, new: Model) -> Plan:
    """The ops that findings name, and those that changed code reaches."""
    findings = [finding for change in report.changes for finding in change.findings]
    reached = {name for finding in findings for name in (finding.op, *finding.ops)}
    names = [op.name for op in new.ops.values() if op.derived_from is None and op.name in reached]
    known = [name for name in names if name in old.ops and _has_samples(old.ops[name]) and _has_samples(new.ops[name])]
    formulas = {name for f in findings if f.rule.code in _FORMULA_RULES for name in (f.op, *f.ops)}
    is_few = len(known) <= _FEW
    tasks = []
    for name in known:
        tasks.append(_task(old.ops[name], new.ops[name], is_few, name in formulas))
        variant = new.variant(new.ops[name], "inplace")
        if is_few and variant is not None and variant.name in old.ops and variant.schema.inputs[0].name == "self":
            if old.ops[name].schema.inputs[0].name == "self":
                tasks.append(_task(old.ops[name], variant, is_few, is_formula=False))
    timed = known if len(known) <= _MOST_TIMED else known[:: -(-len(known) // _MOST_TIMED)]
    left_out = tuple(name for name in names if name not in set(known))
    return Plan(tuple(tasks), tuple(timed), left_out)


def _has_samples(op: Op) -> bool:
    return op.samples not in _NO_SAMPLES


def _task(sampled: Op, op: Op, is_few: bool, is_formula: bool) -> dict[str, Any]:
    dtypes = DTYPES[sampled.dtypes].split()
    chosen = dtypes if is_few else [each for each in dtypes if each in _USUAL] or dtypes[:1]
    writes = any(argument.is_written for argument in op.schema.arguments)
    return {
        "op": sampled.name,
        "is": op.name,
        "name": op.schema.name,
        "overload": op.schema.overload,
        "samples": sampled.samples,
        "dtypes": chosen,
        "gradients": [each for each in chosen if each in _GRADIENTS],
        "written": writes,
        "kind": "inplace" if writes else "functional",
        "differences": is_formula,
    }


def counted(names: Iterable[str], shown: int = 6) -> str:
    """Names in a text, of many the first few."""
    listed = list(names)
    text = ", ".join(f"`{name}`" for name in listed[:shown])
    return f"{text} and {len(listed) - shown} more" if len(listed) > shown else text
