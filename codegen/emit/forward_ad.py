"""generated/forward_ad/<family>.py: forward-mode derivatives, one function per op.

A function gets the result of the op, its arguments in the order of the schema, and a list of the same length with their
tangents; it gives the tangent of the result, a tuple for several results.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..model import Argument, Derivative, Formula, Model
from ..render import python_module, render, tuple_of, used_names
from .names import function_name, op_reference
from .nodes import derivatives_of, gradient_names

IMPORTS = {
    "ops": "mindtorch.dispatch",
    "conj": "mindtorch.autograd.formulas.common",
    "ZERO": "mindtorch.dispatch.modes.tangents",
    "zeros_for": "mindtorch.dispatch.modes.tangents",
}


@dataclass(frozen=True, slots=True)
class Jvp:
    """Everything the template needs to write one function.

    ``only``: the one tangent that the formulas use, if those of other inputs may be there without it.
    ``zeros``: what stands for the tangent of an input without one, for those that may be missing while another has one.
    """

    name: str
    schema: str
    arguments: str
    tangents: str
    only: str
    zeros: tuple[tuple[str, str], ...]
    grad: str
    value: str


def emit(model: Model) -> dict[str, str]:
    return {f"generated/forward_ad/{family}.py": text for family in model.families if (text := _family(model, family))}


def has_jvp(derivative: Derivative) -> bool:
    return any(formula.kind != "not_implemented" for formula in derivative.forward)


def _family(model: Model, family: str) -> str | None:
    derivatives = [derivative for derivative in derivatives_of(model, family) if has_jvp(derivative)]
    if not derivatives:
        return None
    body = render("forward_ad.py.jinja", jvps=[_jvp(model, derivative) for derivative in derivatives])
    helpers = {name: model.helpers[name] for derivative in derivatives for name in _helpers(derivative)}
    package = model.project.generated_package
    own = {"own_ops": package, "functions": f"{package}.ops import {family} as functions"}
    imports = IMPORTS | helpers | own
    purpose = f"Forward-mode derivatives of the {family} ops: tangents of the inputs to tangents of the results."
    return python_module(model.project, "forward_ad", "derivatives.yaml", purpose, body, imports)


def _helpers(derivative: Derivative) -> Iterator[str]:
    elementwise = any(formula.kind == "auto_element_wise" for formula in derivative.forward)
    for formula in (*derivative.forward, *(derivative.backward if elementwise else ())):
        yield from formula.helpers


def _jvp(model: Model, derivative: Derivative) -> Jvp:
    inputs = derivative.op.schema.inputs
    values = [_value(model, derivative, output) for output in derivative.op.schema.result_names]
    elementwise = any(formula.kind == "auto_element_wise" for formula in derivative.forward)
    used = _used_tangents(derivative)
    grad = f"conj({_tangent(used[0])})" if elementwise else ""
    value = values[0] if len(values) == 1 else tuple_of(values)
    missing = _missing(derivative, used)
    only = _tangent(missing[0]) if len(used) == len(missing) == 1 else ""
    zeros = () if only else tuple((_tangent(argument), _zero(derivative, argument)) for argument in missing)
    words = used_names(", ".join(part for part in (value, grad, *(zero for _, zero in zeros)) if part))
    return Jvp(
        name=function_name(model, derivative.op),
        schema=str(derivative.op.schema),
        arguments=_targets(argument.python_name if argument.python_name in words else "_" for argument in inputs),
        tangents=_targets(_tangent(argument) if argument in used else "_" for argument in inputs),
        only=only,
        zeros=zeros,
        grad=grad,
        value=value,
    )


def _targets(names: Iterable[str]) -> str:
    """The left side of an assignment that takes a list apart."""
    return tuple_of(names).strip("()")


def _tangent(argument: Argument) -> str:
    return f"{argument.python_name}_t"


def _used_tangents(derivative: Derivative) -> tuple[Argument, ...]:
    """The inputs whose tangents the formulas use."""
    names = {name for formula in derivative.forward for name in formula.tangents}
    if any(formula.kind.startswith("auto") for formula in derivative.forward):
        names |= {edge.name for edge in derivative.edges}
    return tuple(argument for argument in derivative.op.schema.tensor_arguments if argument.name in names)


def _missing(derivative: Derivative, used: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The inputs that may have no tangent because another one has it. (A list comes with zeros in it.)"""
    is_alone = len(derivative.op.schema.tensor_arguments) == 1
    return () if is_alone else tuple(argument for argument in used if argument.type.is_tensor)


def _zero(derivative: Derivative, argument: Argument) -> str:
    """A zero that vanishes in arithmetic, or a tensor of zeros for what else a formula does with a tangent."""
    formulas = [formula for formula in derivative.forward if formula.kind != "not_implemented"]
    is_operand = all(f.is_expression and _is_operand(f"{argument.name}_t", f) for f in formulas)
    return "ZERO" if is_operand else f"zeros_for({argument.python_name})"


def _is_operand(tangent: str, formula: Formula) -> bool:
    """Whether a formula does arithmetic with a tangent, so that its terms vanish, and then nothing with those alone."""
    tree = ast.parse(formula.source, mode="eval")
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    places = [node for node in parents if isinstance(node, ast.Name) and node.id == tangent]
    calls = [node for node in parents if isinstance(node, ast.Call) and tangent in _names_in(node)]
    everything = {f"{name}_t" for name in formula.tangents}
    return all(isinstance(parents[place], (ast.BinOp, ast.UnaryOp, ast.Expression)) for place in places) and all(
        everything <= _names_in(call) for call in calls
    )


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _value(model: Model, derivative: Derivative, output: str) -> str:
    formula = derivative.forward_of(output)
    if formula is None or formula.kind == "not_implemented":
        return "None"
    if formula.kind == "auto_linear":
        return _linear(model, derivative)
    if formula.kind == "auto_element_wise":
        backward = derivative.backward_of(derivative.edges[0].name)
        assert backward is not None
        return f"conj({backward.rewritten(_names(model, derivative, backward))})"
    return formula.rewritten(_names(model, derivative, formula))


def _linear(model: Model, derivative: Derivative) -> str:
    """The op itself, called on the tangents."""
    edges = {edge.name for edge in derivative.edges}
    words = []
    for argument in derivative.op.schema.inputs:
        value = _tangent(argument) if argument.name in edges else argument.python_name
        words.append(f"{argument.python_name}={value}" if argument.kwarg_only else value)
    return f"functions.{function_name(model, derivative.op)}({', '.join(words)})"


def _names(model: Model, derivative: Derivative, formula: Formula) -> dict[str, str]:
    """What stands for the names of a formula: primals are the arguments themselves, saved outputs the results."""
    schema = derivative.op.schema
    names = {name: op_reference(model, name) for name in formula.ops}
    for argument in schema.inputs:
        python = argument.python_name
        names |= {argument.name: python, f"{argument.name}_p": python, f"{argument.name}_t": f"{python}_t"}
        metadata = [name for name in formula.names if name.startswith(f"{argument.name}.")]
        names |= {name: python + name.removeprefix(argument.name) for name in metadata}
    if len(schema.returns) > 1:
        names |= {name: f"result[{i}]" for i, name in enumerate(schema.result_names)}
    else:
        names[schema.result_names[0]] = "result"
    return names | gradient_names(False, formula.grads)
