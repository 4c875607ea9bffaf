"""generated/forward_ad/<family>.py: forward-mode derivatives, one function per op.

A function gets the result of the op, its arguments in the order of the schema, and a list of the same length with their
tangents; it gives the tangent of the result, a tuple for several results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..model import Argument, Derivative, Formula, Model
from ..render import python_module, render, tuple_of, used_names
from .names import function_name, op_reference
from .nodes import derivatives_of

IMPORTS = {"ops": "mindtorch.dispatch", "conj": "mindtorch.autograd.formulas"}


@dataclass(frozen=True, slots=True)
class Jvp:
    """Everything the template needs to write one function.

    ``constants`` are the tangents that may be None, which stands for zero, while another input has one.
    """

    name: str
    schema: str
    arguments: str
    tangents: str
    constants: tuple[str, ...]
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
    words = used_names(f"{value}, {grad}" if grad else value)
    return Jvp(
        name=function_name(model, derivative.op),
        schema=str(derivative.op.schema),
        arguments=_targets(argument.python_name if argument.python_name in words else "_" for argument in inputs),
        tangents=_targets(_tangent(argument) if argument in used else "_" for argument in inputs),
        constants=tuple(_tangent(a) for a in used if len(used) > 1 and a.type.is_tensor and not a.type.is_optional),
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
    return names | {"grads[0]": "grad"}
