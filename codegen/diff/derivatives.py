"""What changed about the derivatives of an op: formulas, what they keep in memory, nodes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..model import Derivative, Formula, FunctionSchema, Location, Model, Op, SavedUse
from .alignment import align
from .report import Finding
from .subject import Subject


def derivative_findings(subject: Subject, old_model: Model, new_model: Model) -> Iterator[Finding]:
    old_op, new_op = subject.old_op, subject.new_op
    if old_op is None or new_op is None or _follows(old_op, new_op):
        return
    old, new = old_model.derivative_of(old_op), new_model.derivative_of(new_op)
    if old is not None and new is not None:
        yield from _changes(subject, _with_new_names(old, subject), new)
    elif old is not None and not new_op.is_composite and old.edges:
        yield _lost(subject, _formulas(old), new_op.location)
    elif new is not None and not old_op.is_composite and new.edges:
        yield subject.changed("D001", "the op is now differentiable", None, _formulas(new), new.location)
    elif old_op.is_composite and new is None and not new_op.is_composite and _has_tensors(new_op.schema):
        made_by = old_op.decomposition.source if old_op.decomposition else old_op.composite
        yield _lost(subject, f"composite: {made_by}", new_op.location)


def _follows(old: Op, new: Op) -> bool:
    """Whether the derivative is that of another op in both states, with which it is reported."""
    return old.derived_from is not None and new.derived_from is not None


def _with_new_names(old: Derivative, subject: Subject) -> Derivative:
    """The old derivative in the names that the arguments and results have now: only what else differs is a change."""
    names = {pair.old.name: pair.new.name for pair in align(subject.old, subject.new).pairs if pair.is_renamed}
    names |= {old: new for old, new in zip(subject.old.result_names, subject.new.result_names) if old != new}
    if not names:
        return old
    return replace(
        old,
        backward=tuple(_renamed(formula, names) for formula in old.backward),
        forward=tuple(_renamed(formula, names) for formula in old.forward),
        when=_renamed(old.when, names) if old.when else None,
    )


def _renamed(formula: Formula, names: Mapping[str, str]) -> Formula:
    word = re.compile(rf"\b({'|'.join(names)})(?=(?:_[pt])?\b)")
    return replace(
        formula,
        source=word.sub(lambda match: names[match.group()], formula.source),
        targets=tuple(names.get(target, target) for target in formula.targets),
        saved=tuple(replace(value, name=names.get(value.name, value.name)) for value in formula.saved),
    )


def _has_tensors(schema: FunctionSchema) -> bool:
    return bool(schema.tensor_arguments) and any(result.type.holds_tensors for result in schema.returns)


def _lost(subject: Subject, formulas: str, where: Location) -> Finding:
    caller = f"`{subject.call()}.sum().backward()` stops working"
    remedy = "" if subject.old_op is None or not subject.old_op.is_composite else "add an entry to derivatives.yaml"
    return subject.changed("D002", "the op is no longer differentiable", formulas, None, where, caller, remedy)


def _formulas(derivative: Derivative) -> str:
    return "; ".join(f"{', '.join(formula.targets)}: {formula.source}" for formula in derivative.backward)


def _changes(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    yield from _backward(subject, old, new)
    yield from _forward(subject, old, new)
    yield from _outputs(subject, old, new)
    yield from _when(subject, old, new)
    yield from _complex(subject, old, new)
    yield from _saved(subject, old, new)
    yield from _node(subject, old, new)


# -------------------- backward formulas --------------------


def _backward(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    for argument in new.op.schema.inputs:
        before, after = old.backward_of(argument.name), new.backward_of(argument.name)
        if before is None or after is None or before.source == after.source:
            continue
        if before.is_expression and after.is_expression:
            message = f"the gradient of `{argument.name}` is computed differently"
            yield _formula_change(subject, "D012", message, before, after)
        else:
            yield _kind_change(subject, argument.name, before, after)


def _formula_change(subject: Subject, code: str, message: str, before: Formula, after: Formula) -> Finding:
    caller = "it may have other values: only tests can tell"
    if same_expression(before.source, after.source):
        code, message, caller = "D013", f"the formula of `{', '.join(after.targets)}` is written differently", ""
    return subject.changed(code, message, before.source, after.source, after.location, caller)


def same_expression(one: str, other: str) -> bool:
    """Whether two formulas say the same, whatever their spaces, quotes and brackets."""
    return _tree(one) == _tree(other)


def _tree(source: str) -> str:
    return ast.dump(ast.parse(source.strip(), mode="eval"))


def _kind_change(subject: Subject, name: str, before: Formula, after: Formula) -> Finding:
    """One of the two is ``non_differentiable`` or ``not_implemented``."""
    code, message, caller = "D010", f"`{name}` is now differentiable", ""
    if before.is_expression:
        code, message = "D011", f"`{name}` is no longer differentiable: {_outcome(after)}"
        caller = f"the gradient of `{name}` {'is None' if after.kind == 'non_differentiable' else 'raises an error'}"
    elif after.kind == "not_implemented":
        code, message = "D014", f"the gradient of `{name}` now raises an error: it had none"
        caller = f"`backward()` raises an error where `{name}` requires grad"
    elif after.kind == "non_differentiable":
        code, message = "D015", f"`{name}` has no gradient: asking for it raised an error"
    return subject.changed(code, message, before.source, after.source, after.location, caller)


def _outcome(formula: Formula) -> str:
    return "it has no gradient" if formula.kind == "non_differentiable" else "its gradient raises an error"


# -------------------- forward formulas, outputs, conditions --------------------


def _forward(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    names = dict.fromkeys(target for formula in (*old.forward, *new.forward) for target in formula.targets)
    for name in names:
        before, after = _implemented(old.forward_of(name)), _implemented(new.forward_of(name))
        if before is None and after is not None:
            yield subject.changed("D020", f"`{name}` has a forward-mode formula", None, after.source, after.location)
        elif before is not None and after is None:
            caller = f"forward mode (`torch.autograd.forward_ad`) of `{subject.call()}` stops working"
            message = f"`{name}` has no forward-mode formula any more"
            yield subject.changed("D021", message, before.source, None, new.location, caller)
        elif before is not None and after is not None and before.source != after.source:
            yield _formula_change(subject, "D022", f"the tangent of `{name}` is computed differently", before, after)


def _implemented(formula: Formula | None) -> Formula | None:
    """A formula that gives a tangent; one that is to be written is as good as none."""
    return None if formula is None or formula.kind == "not_implemented" else formula


def _outputs(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    words = _booleans(old), _booleans(new)
    pairs = zip(old.output_differentiability, new.output_differentiability)
    for name, (before, after) in zip(new.op.schema.result_names, pairs):
        if before and not after:
            caller = f"`{name}` of `{subject.call()}` does not require grad"
            yield subject.changed("D031", f"the output `{name}` has no gradient", *words, new.location, caller)
        elif after and not before:
            yield subject.changed("D030", f"the output `{name}` has a gradient", *words, new.location)


def _booleans(derivative: Derivative) -> str:
    return f"[{', '.join(map(str, derivative.output_differentiability))}]"


def _when(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    before, after = old.when.source if old.when else None, new.when.source if new.when else None
    if before == after:
        return
    if before is None:
        message, caller = f"a graph is recorded only if `{after}`", f"`{subject.call()}` may have no `grad_fn`"
        yield subject.changed("D040", message, None, after, new.location, caller)
    elif after is None:
        yield subject.changed("D041", f"a graph is always recorded, not only if `{before}`", before, None, new.location)
    else:
        message = f"a graph is recorded if `{after}`, it was if `{before}`"
        yield subject.changed("D042", message, before, after, new.location)


def _complex(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    if new.refuses_complex and not old.refuses_complex:
        message, caller = "complex tensors have no gradient", f"`{subject.call()}` of a complex `x` that requires grad"
        yield subject.changed("D016", message, None, "refused", new.location, f"{caller} raises an error")
    elif old.refuses_complex and not new.refuses_complex:
        yield subject.changed("D017", "complex tensors have a gradient", "refused", None, new.location)


# -------------------- what is kept --------------------


def _saved(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    before, after = _by_expression(old), _by_expression(new)
    for expression, use in after.items():
        if expression not in before:
            yield _kept(subject, use, new)
        elif set(use.arguments) != set(before[expression].arguments):
            yield _other_users(subject, before[expression], use, new)
    for expression, use in before.items():
        if expression not in after:
            yield _not_kept(subject, use, new)


def _by_expression(derivative: Derivative) -> dict[str, SavedUse]:
    return {use.value.expression: use for use in derivative.saved}


def _is_large(use: SavedUse) -> bool:
    return use.value.kind in ("input", "output")


def _kept(subject: Subject, use: SavedUse, new: Derivative) -> Finding:
    name = use.value.expression
    if not _is_large(use):
        return subject.changed("M003", f"now keeps `{name}` until backward (no tensor)", None, name, new.location)
    what = "the result" if use.value.kind == "output" else f"`{'x' if name == 'self' else name}`"
    caller = f"{what} stays in memory until backward, and a write to it before that makes `backward()` raise an error"
    message = f"now keeps the {use.value.kind} `{name}` until backward, for {_gradients(use)}"
    return subject.changed("M001", message, None, name, new.location, caller)


def _not_kept(subject: Subject, use: SavedUse, new: Derivative) -> Finding:
    name = use.value.expression
    if not _is_large(use):
        return subject.changed("M004", f"no longer keeps `{name}` (no tensor)", name, None, new.location)
    message = f"no longer keeps the {use.value.kind} `{name}` until backward"
    return subject.changed("M002", message, name, None, new.location)


def _other_users(subject: Subject, before: SavedUse, after: SavedUse, new: Derivative) -> Finding:
    message = f"`{after.value.expression}` is kept for {_gradients(after)}, it was for {_gradients(before)}"
    return subject.changed("M005", message, _names(before), _names(after), new.location)


def _gradients(use: SavedUse) -> str:
    *others, last = [f"`{name}`" for name in use.arguments]
    return f"the gradients of {', '.join(others)} and {last}" if others else f"the gradient of {last}"


def _names(use: SavedUse) -> str:
    return ", ".join(use.arguments)


# -------------------- nodes --------------------


def _node(subject: Subject, old: Derivative, new: Derivative) -> Iterator[Finding]:
    if old.node and new.node and old.node != new.node:
        caller = f"`y.grad_fn.name()` and printed tensors say `{new.node}`"
        message = f"the node class is `{new.node}`, it was `{old.node}`"
        remedy = f"write `node: {old.node}` in the entry"
        yield subject.changed("N001", message, old.node, new.node, new.location, caller, remedy)
