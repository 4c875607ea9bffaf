"""What adding an op changes: the new content of each file, loaded for a check before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..errors import Problems
from ..load import load
from ..model import Derivative, Model, Op
from ..rules.fit_rules import misfits
from ..sources.hand_written import read_hand_written
from .derivative_entry import derivative_lines, why_none
from .draft import Draft, Request, make_draft
from .edits import add_composite, add_derivative, add_op, add_samples
from .files import Files
from .op_entry import Line, op_lines
from .relatives import overloads_like
from .torch_dtypes import Ask
from .torch_facts import TorchFacts, find_names
from .wanted import START, Wanted, read_wanted


@dataclass(frozen=True, slots=True)
class Added:
    """One new op: the lines of its entries, and the file with the sample generator that is to be written, if any.

    ``why_no_derivative`` is empty for an op that has an entry in derivatives.yaml.
    """

    draft: Draft
    op_lines: tuple[Line, ...]
    derivative_lines: tuple[Line, ...]
    samples_file: str | None
    why_no_derivative: str

    @property
    def name(self) -> str:
        return self.draft.schema.full_name


@dataclass(frozen=True, slots=True)
class Plan:
    """The changed files, the ops that are new and those that were ``listed`` before, and the model that results."""

    files: Files
    added: tuple[Added, ...]
    listed: tuple[Op, ...]
    model: Model

    def op(self, added: Added) -> Op:
        return self.model.ops[added.name]

    def derivative(self, added: Added) -> Derivative | None:
        return self.model.derivatives.get(added.name)


def make_plan(root: Path, request: Request, facts: TorchFacts | None, ask: Ask = lambda schema: None) -> Plan:
    """Everything that the request leads to; raises InvalidInput. ``ask`` finds the dtypes that PyTorch's op takes."""
    model = load(root)
    files = Files(root)
    problems = Problems()
    own = not model.project.is_library
    wanted = read_wanted(request.text, facts, problems, names=find_names(root), own=own)
    problems.raise_if_any()
    listed = [model.ops[each.schema.full_name] for each in wanted if each.schema.full_name in model.ops]
    new = [each for each in wanted if each.schema.full_name not in model.ops]
    new.sort(key=lambda each: -len(each.schema.arguments))  # the one that tells most decides about the family
    _check_new(new, listed, model, problems)
    sources = read_hand_written(model.project, problems)
    added = []
    for each, about in [*((each, request) for each in new), *_siblings(new, request, model)]:
        each = replace(each, dtypes=ask(each.schema)) if each.function else each
        added.append(_add(files, make_draft(each, about, model, problems, partial(misfits, sources=sources)), model))
        model = load(root, files.changed)
    return Plan(files, tuple(added), tuple(listed), model)


def _siblings(new: list[Wanted], request: Request, model: Model) -> Iterator[tuple[Wanted, Request]]:
    """What comes with an op that PyTorch does not have: an overload like each that the op to go after has."""
    after = model.ops.get(request.after or "")
    for each in new:
        if after and not each.is_of_pytorch:
            for op, schema in overloads_like(each.schema, after, model):
                yield Wanted(schema, names=each.names), _like(request, op)


def _like(request: Request, op: Op) -> Request:
    """What is asked for of an overload that is like a listed one."""
    return replace(request, after=op.name, composite=op.is_composite, decomposition=None)


def _check_new(new: list[Wanted], listed: list[Op], model: Model, problems: Problems) -> None:
    """At least one op is new, and none of them belongs into the entry of another."""
    for op in listed if not new else ():
        hint = f"it is listed in {op.location.file}, line {op.location.line}: change it there"
        problems.add("E030", f"a second op '{op.name}'", START, hint)
    for each in new:
        _check_no_variant(each, model, problems)
    problems.raise_if_any()


def _check_no_variant(wanted: Wanted, model: Model, problems: Problems) -> None:
    schema = wanted.schema
    overload = "" if schema.kind == "out" else schema.overload
    root = model.ops.get(replace(schema, inplace=False, overload=overload).full_name)
    if schema.kind in ("inplace", "out") and root is not None:
        hint = f"add 'autogen: {schema.kind}' to the entry in {root.location.file}, line {root.location.line}"
        message = f"'{schema.full_name}' is a form of '{root.name}', which is listed"
        problems.add("E111", message, START, hint)


def _add(files: Files, draft: Draft, model: Model) -> Added:
    samples, samples_file = add_samples(files, draft, model)
    if draft.is_composite and draft.decomposition is None:
        add_composite(files, draft, model)
    lines = op_lines(draft, samples)
    derivative = derivative_lines(draft, model)
    add_op(files, lines, draft, model)
    if derivative:
        add_derivative(files, derivative, draft, model)
    return Added(draft, tuple(lines), tuple(derivative), samples_file, why_none(draft, model))
