"""generated/nodes/<family>.py: the nodes of the backward graph, one class per derivative."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..model import Derivative, Formula, Model, SavedUse, SavedValue
from ..render import python_module, render, tuple_of
from .names import op_reference

IMPORTS = {
    "Node": "mindtorch.autograd._engine.node",
    "derivative_not_implemented": "mindtorch._support.errors",
    "ops": "mindtorch.dispatch",
}


@dataclass(frozen=True, slots=True)
class Gradient:
    """The gradients that one formula gives: where they go, when they are wanted, and the expression.

    Without an expression the derivative is not implemented, and ``refused`` is what the error names.
    """

    targets: tuple[str, ...]
    needed: str
    expression: str
    refused: str
    is_list: bool

    @property
    def operand(self) -> str:
        """The expression where it stands before an ``if``."""
        is_conditional = isinstance(ast.parse(self.expression, mode="eval").body, ast.IfExp | ast.Lambda)
        return f"({self.expression})" if is_conditional else self.expression

    @property
    def variables(self) -> str:
        return ", ".join(f"{target}_grad" for target in self.targets)

    @property
    def when_needed(self) -> str:
        return f"{self.operand} if {self.needed} else None" if self.needed else self.expression

    @property
    def nothing(self) -> str:
        return "None" if len(self.targets) == 1 else f"({', '.join(['None'] * len(self.targets))})"


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Everything the template needs to write one class.

    ``tensors``  the saved tensors and lists of tensors, which the formulas use as local variables
    ``values``   the fields for numbers, shapes and the like
    ``facts``    what torch calls those of them that are facts about a tensor, None where it does not show them
    ``saved_for``  for each saved tensor the place of the edge for which alone it is saved, or None
    ``results``  the gradients in the order of the edges
    """

    name: str
    schema: str
    tensors: tuple[str, ...]
    values: tuple[str, ...]
    facts: dict[str, str | None]
    saved_for: tuple[str, ...]
    parameters: str
    gradients: tuple[Gradient, ...]
    results: tuple[str, ...]

    @property
    def no_gradients(self) -> str:
        """What ``apply`` gives when there is no gradient: None for every edge, of which a list of tensors has many."""
        if any(result.startswith("*") for result in self.results):
            return "(None,) * len(edges)"
        return tuple_of("None" for _ in self.results)

    @property
    def is_one_formula(self) -> bool:
        """Whether one formula gives all the gradients, as a tuple."""
        return len(self.gradients) == 1 and bool(self.gradients[0].expression) and not self.gradients[0].is_list

    @property
    def is_direct(self) -> bool:
        """Whether each formula gives one gradient, in the order of the edges, so that a tuple can hold them."""
        return all(len(g.targets) == 1 and g.expression and not g.is_list for g in self.gradients)


# What a reader of a module meets in each class.
_GUIDE = """\
A call that is recorded makes a node. What its formulas need is listed in `saved` and lies, in that order, in
`_mt_saved`, which `node.unpack()` checks and gives back; numbers have slots of their own, and `facts` says what
torch calls those that are facts about a tensor. `apply` gives a gradient for each of the `edges` that the
pass follows, None for the others. "Nodes and saved tensors" in docs/internals.md tells the rest.
"""


def emit(model: Model) -> dict[str, str]:
    return {f"generated/nodes/{family}.py": text for family in model.families if (text := _family(model, family))}


def derivatives_of(model: Model, family: str) -> list[Derivative]:
    """The derivatives of a family's ops, in the order of ops.yaml."""
    found = [model.derivatives.get(op.name) for op in model.families[family]]
    return [derivative for derivative in found if derivative is not None]


def _family(model: Model, family: str) -> str | None:
    derivatives = [
        derivative for derivative in derivatives_of(model, family) if derivative.edges and not derivative.is_refused
    ]
    if not derivatives:
        return None
    body = render("nodes.py.jinja", nodes=[_node_class(model, derivative) for derivative in derivatives])
    formulas = [formula for derivative in derivatives for formula in derivative.backward]
    helpers = {name: model.helpers[name] for formula in formulas for name in formula.helpers}
    own = {"own_ops": model.project.generated_package}
    purpose = f"The backward steps of the {family} ops.\n\n{_GUIDE}"
    return python_module(model.project, "nodes", "derivatives.yaml", purpose, body, IMPORTS | own | helpers)


def _node_class(model: Model, derivative: Derivative) -> NodeClass:
    formulas = [formula for formula in derivative.backward if formula.kind != "non_differentiable"]
    gradients = tuple(_gradient(model, derivative, formula) for formula in formulas)
    tensors = [use.value.name for use in (*derivative.saved_before, *derivative.saved_after)]
    values = [use.value for use in derivative.saved if use.value.kind in ("value", "metadata")]
    return NodeClass(
        name=derivative.node,
        schema=str(derivative.op.schema),
        tensors=tuple(tensors),
        values=tuple(f'"{value.field}"' for value in values),
        facts={value.field: _fact_shown(value) for value in values if value.kind == "metadata"},
        saved_for=_saved_for(derivative),
        parameters="*grads" if _has_several_grads(derivative) else "grad",
        gradients=_in_edge_order(derivative, gradients),
        results=tuple(f"*{edge.name}_grad" if edge.type.is_list else f"{edge.name}_grad" for edge in derivative.edges),
    )


# What torch calls the facts about a tensor that are kept in its place. It does not show the others.
_SHOWN_FACTS = {"shape": "sym_sizes", "numel()": "sym_numel", "stride()": "sym_strides"}


def _fact_shown(value: SavedValue) -> str | None:
    shown = _SHOWN_FACTS.get(value.attribute)
    return f"{value.name}_{shown}" if shown else None


def _saved_for(derivative: Derivative) -> tuple[str, ...]:
    """For each saved tensor the edge for which alone PyTorch saves it, or None; nothing if there is no such edge.

    It keeps whatever else is used, and looks at it again, whichever gradients are wanted: outputs, what the formulas of
    several arguments use, what the only argument with a formula does, and all that ops which are derivatives save.
    """
    edges, schema = derivative.edges, derivative.op.schema
    if len(edges) < 2 or any(edge.type.is_list for edge in edges) or "backward" in schema.base:
        return ()
    places = {edge.name: str(place) for place, edge in enumerate(edges)}
    saved_for = [_edge_saved_for(use, places) for use in (*derivative.saved_before, *derivative.saved_after)]
    return tuple(saved_for) if any(each != "None" for each in saved_for) else ()


def _edge_saved_for(use: SavedUse, places: Mapping[str, str]) -> str:
    is_for_one = use.value.kind == "input" and len(use.arguments) == 1
    return places.get(next(iter(use.arguments)), "None") if is_for_one else "None"


def _has_several_grads(derivative: Derivative) -> bool:
    """Whether the op has more than one output with a gradient: a list counts as many."""
    returns = derivative.op.schema.returns
    return any(result.type.is_list for result in returns) or _gradient_count(derivative) > 1


def _gradient_count(derivative: Derivative) -> int:
    flags = derivative.output_differentiability
    return sum(flags) if flags else len(derivative.op.schema.returns)


def gradient_names(several: bool, indices: Iterable[int]) -> dict[str, str]:
    """The gradients of the outputs in Python, whatever a formula calls them."""
    if several:
        return {f"grads[{i}]": f"grads[{i}]" for i in indices}
    return {"grads[0]": "grad", "grads": "(grad,)"}


def _is_list(derivative: Derivative, name: str) -> bool:
    argument = derivative.op.schema.argument(name)
    return argument is not None and argument.type.is_list


def _python_name(derivative: Derivative, name: str) -> str:
    argument = derivative.op.schema.argument(name)
    return argument.python_name if argument else name


def _in_edge_order(derivative: Derivative, gradients: tuple[Gradient, ...]) -> tuple[Gradient, ...]:
    order = [edge.name for edge in derivative.edges]
    return tuple(sorted(gradients, key=lambda gradient: order.index(gradient.targets[0])))


def _gradient(model: Model, derivative: Derivative, formula: Formula) -> Gradient:
    edges = [edge.name for edge in derivative.edges]
    targets = tuple(sorted(formula.targets, key=edges.index)) if len(formula.targets) == 1 else formula.targets
    alone = set(targets) == set(edges)
    return Gradient(
        targets=targets,
        needed="" if alone else " or ".join(f"edges[{edges.index(target)}]" for target in targets),
        expression=formula.rewritten(_node_names(model, derivative, formula)) if formula.is_expression else "",
        refused=_refused_name(derivative, targets[0]),
        is_list=len(targets) == 1 and _is_list(derivative, targets[0]),
    )


def _refused_name(derivative: Derivative, argument: str) -> str:
    """What torch calls a derivative that it does not have: a backward pass has no other than that of its `grad`."""
    base = derivative.op.schema.base
    return base if argument == "grad" else f"{base}: {_python_name(derivative, argument)}"


def _node_names(model: Model, derivative: Derivative, formula: Formula) -> dict[str, str]:
    """What stands for the names of a formula in ``apply``: tensors are local variables, other values are fields."""
    edges = [edge.name for edge in derivative.edges]
    names = {name: op_reference(model, name) for name in formula.ops}
    names |= {name: name for name in derivative.op.schema.result_names}  # which a formula may call by number, too
    for value in formula.saved:
        if value.kind in ("value", "metadata"):
            names[value.expression] = f"node.{value.field}"
    for name in formula.names:
        owner, _, argument = name.partition(".")
        if owner == "needs_input_grad":
            names[name] = f"bool(edges[{edges.index(argument)}])" if argument in edges else "False"
    return names | gradient_names(_has_several_grads(derivative), formula.grads)
