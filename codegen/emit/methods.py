"""generated/methods/<family>.py: the ops that are methods and operators of Tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Model, Op
from ..render import python_module, render
from .names import visible_overloads
from .old_calls import old_names
from .resolvers import called_by_operator
from .signatures import Signature, signature_of

IMPORTS = {
    "extend_tensor": "mindtorch._core.tensor",
    **dict.fromkeys(("as_method", "as_operator"), "mindtorch.dispatch.methods"),
}


@dataclass(frozen=True, slots=True)
class Method:
    """A method: the function itself, or with a signature one that puts ``self`` where the schema has it.

    ``operators`` are the Python operators, each with the function that it calls.
    """

    name: str
    function: str
    operators: tuple[tuple[str, str], ...]
    signature: Signature | None
    passed: str


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    class_name: str
    methods: tuple[Method, ...]


def emit(model: Model) -> dict[str, str]:
    families = (Family(name, f"{name.title()}Methods", tuple(_methods(model, name))) for name in model.families)
    return {f"generated/methods/{family.name}.py": _module(model, family) for family in families if family.methods}


def _module(model: Model, family: Family) -> str:
    body = render("tensor_methods.py.jinja", family=family)
    package = model.project.generated_package
    modules = {f"{family.name}_ops": f"{package}.ops import {family.name} as {family.name}_ops"}
    purpose = f"Puts the {family.name} ops that are methods and operators on Tensor."
    return python_module(model.project, "methods", "ops.yaml", purpose, body, IMPORTS | modules)


def has_methods(model: Model, family: str) -> bool:
    """Whether the ops of a family are methods or operators of Tensor, as only those of the library are."""
    return model.project.is_library and any(_methods(model, family))


def names_of_methods(model: Model, family: str) -> list[str]:
    """What the module of a family's methods puts on Tensor."""
    methods = list(_methods(model, family)) if model.project.is_library else []
    named = (name for each in methods for name in (each.name, *(operator for operator, _ in each.operators)))
    return [name for name in dict.fromkeys(named) if name]


def method_groups(model: Model, family: str) -> Iterator[tuple[str, tuple[Op, ...]]]:
    """The Python names of a family's methods and operators, with their visible overloads."""
    for name in dict.fromkeys(op.schema.name for op in model.families[family] if op.kind != "out"):
        overloads = visible_overloads(model, name)
        if any(op.is_method or op.operators for op in overloads) and not any(map(_is_written_by_hand, overloads)):
            yield name, overloads


def _is_written_by_hand(op: Op) -> bool:
    """``detach_`` changes what autograd keeps for a tensor and nothing else: it belongs to autograd."""
    return op.view == "detach" and op.kind == "inplace"


def _methods(model: Model, family: str) -> Iterator[Method]:
    for name, overloads in method_groups(model, family):
        operators = [(operator, _operator(model, op)) for op in overloads for operator in op.operators]
        shown = name if any(op.is_method for op in overloads) else ""
        first = next((op for op in overloads if op.is_method), overloads[0])
        moved = shown and first.schema.positional[0].name != "self"
        signature = _behind_self(signature_of(model, first, public=False)) if moved else None
        passed = ", ".join(_passed(first)) if moved else ""
        yield Method(shown, f"{family}_ops.{name}", tuple(operators), signature, passed)
    for old in old_names(model, family):
        if old.is_method:
            yield Method(old.name, f"{family}_ops.{old.name}", (), None, "")


def _operator(model: Model, op: Op) -> str:
    """What an operator is. One with an operand gives NotImplemented instead of an error.

    It is called with operands only: what has other parameters has a form for operators.
    """
    name = called_by_operator(model, op)
    function = f"{op.family}_ops.{name}"
    if len(op.schema.positional) < 2:
        return function
    return f"as_operator({function})"


def _passed(op: Op) -> Iterator[str]:
    for argument in op.schema.inputs:
        value = "self" if argument.name == "self" else argument.python_name
        yield f"{argument.python_name}={value}" if argument.kwarg_only else value


def _behind_self(signature: Signature) -> Signature:
    """The signature without ``input``, which is what stands in front of the dot."""
    return Signature(tuple(parameter for parameter in signature.parameters if parameter.name not in ("input", "out")))
