"""The entry of a new op in derivatives.yaml: which arguments need a formula. The formulas are left to be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model import Argument, Model
from .draft import Draft
from .op_entry import Line, scalar

TO_WRITE = "not_implemented"
NO_GRADIENT = "non_differentiable"


def derivative_lines(draft: Draft, model: Model) -> list[Line]:
    """The lines of the entry; none for an op that has no derivative of its own."""
    schema = draft.schema
    formulas = list(_backward(draft, model))
    if not _is_differentiable(draft, model) or all(line.value == NO_GRADIENT for line in formulas):
        return []
    outputs = _differentiable_outputs(draft, model)
    names = [name for name, has in zip(schema.result_names, outputs) if has]
    forward = [Line(name, TO_WRITE, "the forward-mode rule") for name in names]
    return [Line("name", scalar(str(schema))), *formulas, *forward, *_differentiability(draft, outputs)]


def _is_differentiable(draft: Draft, model: Model) -> bool:
    """Composite ops are differentiated through their parts; others as in PyTorch, or as their relative."""
    schema = draft.schema
    if draft.is_composite or not schema.tensor_arguments or not any(each.type.holds_tensors for each in schema.returns):
        return False
    if draft.wanted.function is not None:
        return draft.wanted.derivative is not None and any(_differentiable_outputs(draft, model))
    relative = draft.relative_op
    return relative is None or relative.is_composite or relative.name in model.derivatives


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
    for argument in draft.schema.tensor_arguments:
        if _has_gradient(argument, draft, model):
            yield Line(argument.name, TO_WRITE, "the gradient")
        else:
            yield Line(argument.name, NO_GRADIENT, "as such arguments of other ops")


def _has_gradient(argument: Argument, draft: Draft, model: Model) -> bool:
    """As in PyTorch; without it, as most arguments of that name have one."""
    if draft.wanted.derivative is not None:
        return argument.name in draft.wanted.derivative.arguments
    votes = Counter(
        formula.kind != NO_GRADIENT
        for derivative in model.derivatives.values()
        for formula in derivative.backward
        if argument.name in formula.targets
    )
    return votes[True] >= votes[False]
