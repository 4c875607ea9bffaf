"""The entry of a new op in derivatives.yaml: which arguments need a formula. The formulas are left to be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model import Argument, Model
from .draft import Draft
from .op_entry import Line, scalar

TO_WRITE = "not_implemented"
NO_GRADIENT = "non_differentiable"

# What ops return or compute on that have no gradient: truth values, indices and integers.
_WITHOUT_GRADIENT = frozenset("bool bool_or_uint8 index integral number_integral".split())


def derivative_lines(draft: Draft, model: Model) -> list[Line]:
    """The lines of the entry; none for an op that has no derivative of its own."""
    if why_none(draft, model):
        return []
    schema, formulas = draft.schema, _backward(draft, model)
    outputs = _differentiable_outputs(draft, model)
    names = [name for name, has in zip(schema.result_names, outputs) if has]
    forward = [Line(name, TO_WRITE, "the forward-mode rule") for name in names]
    return [Line("name", scalar(str(schema))), *formulas, *forward, *_differentiability(draft, outputs)]


def why_none(draft: Draft, model: Model) -> str:
    """Why an op has no derivative of its own; empty for one that has."""
    schema = draft.schema
    if draft.is_composite:
        return "the ops that it is written in are differentiated"
    if not schema.tensor_arguments:
        return "it takes no tensors"
    if not any(each.type.holds_tensors for each in schema.returns):
        return "it returns no tensors"
    if all(line.value == NO_GRADIENT for line in _backward(draft, model)):
        return "none of its tensors has a gradient in PyTorch"
    return _why_none_in_torch(draft, model) if draft.wanted.function else _why_none_as_relative(draft, model)


def _why_none_in_torch(draft: Draft, model: Model) -> str:
    """Nothing is known of an op that PyTorch, but not mindtorch, writes in others: it may well be differentiable."""
    function, derivative = draft.wanted.function, draft.wanted.derivative
    if derivative is None:
        return "" if function and function.is_composite else "PyTorch has no derivative of it"
    return "" if any(_differentiable_outputs(draft, model)) else "its outputs have no gradient in PyTorch"


def _why_none_as_relative(draft: Draft, model: Model) -> str:
    """An op that was asked for, or one whose dtypes and rule are taken, and leave nothing to differentiate."""
    relative = draft.relative_op
    if relative is None or relative.is_composite or relative.name in model.derivatives:
        return ""
    rules = draft.relative_of_rules
    if not draft.is_asked and (rules is None or _WITHOUT_GRADIENT.isdisjoint((rules.promotion, rules.dtypes))):
        return ""
    return f"{relative.name}, the op that is most like it, has none; if this one has, write it"


def _differentiable_outputs(draft: Draft, model: Model) -> tuple[bool, ...]:
    """As in PyTorch; without it, as most outputs of that name: values are differentiable, indices are not."""
    if draft.wanted.derivative is not None and draft.wanted.derivative.outputs:
        return draft.wanted.derivative.outputs
    votes = Counter(
        (name, has)
        for derivative in model.derivatives.values()
        for name, has in zip(derivative.op.schema.result_names, derivative.output_differentiability)
    )
    names = zip(draft.schema.result_names, draft.schema.returns)
    return tuple(result.type.holds_tensors and votes[name, True] >= votes[name, False] for name, result in names)


def _differentiability(draft: Draft, outputs: tuple[bool, ...]) -> Iterator[Line]:
    if outputs != tuple(result.type.holds_tensors for result in draft.schema.returns):
        yield Line("output_differentiability", f"[{', '.join(map(str, outputs))}]", "which outputs have a gradient")


def _backward(draft: Draft, model: Model) -> Iterator[Line]:
    """As in PyTorch; without it, every tensor has a gradient until it is said that it has none."""
    derivative = draft.wanted.derivative
    for argument in draft.schema.tensor_arguments:
        if derivative is None:
            yield Line(argument.name, TO_WRITE, _guess(argument, model))
        elif argument.name in derivative.arguments:
            yield Line(argument.name, TO_WRITE, "the gradient")
        else:
            yield Line(argument.name, NO_GRADIENT, "as in PyTorch")


def _guess(argument: Argument, model: Model) -> str:
    """What is to be written. A name proves nothing, but that of indices or masks tells what most ops do with it."""
    votes = Counter(
        formula.kind != NO_GRADIENT
        for derivative in model.derivatives.values()
        if derivative.edges
        for formula in derivative.backward
        if argument.name in formula.targets
    )
    if votes[True] >= votes[False]:
        return "the gradient"
    return f"the gradient, or {NO_GRADIENT}, as most arguments of that name: check it"
