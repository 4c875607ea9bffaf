"""How a generated function records itself in the backward graph: when, on which edges, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Argument, Derivative, Formula, Model, Op, SavedUse
from ..render import tuple_of
from .names import array_name, comma_separated, edge_name, qualified_base


@dataclass(frozen=True, slots=True)
class Edge:
    """The local variable for an input's place in the graph, and the expression that looks it up."""

    variable: str
    lookup: str


@dataclass(frozen=True, slots=True)
class Recording:
    """The pieces of the part of a function that makes the node.

    ``may``      the quick test that lets nearly all calls without gradients pass
    ``edges``    one per differentiable input
    ``wanted``   whether any edge leads anywhere
    ``complex_check``  the check, once the kernel has run, that no tensor is complex
    ``values``   the fields of the node for numbers, shapes and the like: the assignments, without the node
    ``kept``     the inputs that are kept, one expression each
    ``after``    what is kept once the kernel has run: outputs, and the inputs that it changes
    ``unless``   what keeps a composite op from being recorded as one node; tested last
    ``single``   one tensor has an edge, so that one line tells all
    """

    node: str
    may: str
    unless: str
    edges: tuple[Edge, ...]
    wanted: str
    next_edges: str
    complex_check: str | None
    values: tuple[str, ...]
    kept: tuple[str, ...]
    after: tuple[str, ...]
    single: bool

    @property
    def keep_after(self) -> str:
        """The assignment that adds to what the node keeps when the kernel has run."""
        return f"node._mt_saved {'+=' if self.kept else '='} {tuple_of(self.after)}"


def recording_of(model: Model, op: Op) -> Recording | None:
    """How a call of ``op`` is recorded; None when it never is."""
    derivative = model.derivative_of(op)
    if derivative is None or not derivative.edges:
        return None
    edges = derivative.edges
    alone = len(edges) == 1
    single = alone and not edges[0].type.is_list
    return Recording(
        node="RefusingNode" if derivative.is_refused else f"nodes.{derivative.node}",
        may=_may_record(op, edges, derivative.when, single),
        unless=_unless_seen(op),
        edges=tuple(_edge(argument, alone, single) for argument in edges),
        wanted=" or ".join(_is_wanted(argument, alone) for argument in edges),
        next_edges=_next_edges(edges),
        complex_check=_complex_check(op, derivative),
        values=_values(model, op, derivative),
        kept=tuple(_kept(derivative, op, use) for use in derivative.saved_before),
        after=tuple(_kept_after(derivative, op, use) for use in derivative.saved_after),
        single=single,
    )


def _values(model: Model, op: Op, derivative: Derivative) -> tuple[str, ...]:
    if derivative.is_refused:
        return (f'op = "{qualified_base(model, op)}"',)
    return tuple(_assignment(derivative, use) for use in derivative.saved if use.value.kind in ("value", "metadata"))


def _variable(argument: Argument, alone: bool) -> str:
    return edge_name(argument) if not alone or argument.type.is_list else "edge"


def _edge(argument: Argument, alone: bool, single: bool) -> Edge:
    name = argument.python_name
    if single:
        lookup = f"edge or edge_of({name})"
    elif argument.type.is_list:
        lookup = f"edges_of({name})"
    elif argument.type.is_optional:
        lookup = f"None if {name} is None else ({name}._mt_edge or edge_of({name}))"
    else:
        lookup = f"{name}._mt_edge or edge_of({name})"
    return Edge(_variable(argument, alone), lookup)


def _complex_check(op: Op, derivative: Derivative) -> str | None:
    if not derivative.refuses_complex or op.kind == "inplace":  # which PyTorch does not refuse
        return None
    return f'refuse_complex("{op.schema.name}", {comma_separated(edge.python_name for edge in derivative.edges)})'


def _next_edges(edges: tuple[Argument, ...]) -> str:
    alone = len(edges) == 1
    if alone and edges[0].type.is_list:
        return _variable(edges[0], alone)
    return tuple_of(_edges_of_list(a, alone) if a.type.is_list else f"{_variable(a, alone)} or None" for a in edges)


def _is_wanted(argument: Argument, alone: bool) -> str:
    """Whether a call is recorded because of an argument, be it one that no gradient gets to (`NOWHERE`)."""
    variable = _variable(argument, alone)
    return variable if argument.type.is_list else f"{variable} is not None"


def _edges_of_list(argument: Argument, alone: bool) -> str:
    """An edge per tensor; when only the gradients of other arguments are wanted, there are none to begin with."""
    return f"*({_variable(argument, alone)} or [None] * len({argument.python_name}))"


def _may_record(op: Op, edges: tuple[Argument, ...], when: Formula | None, single: bool) -> str:
    """A test on attributes only, as it stands in front of every call; the tensors of a list are looked at later."""
    tests = [] if any(a.type.is_list for a in edges) else [_has_edge(argument, single) for argument in edges]
    some = f"({' or '.join(tests)})" if len(tests) > 1 else "".join(tests)
    if len(tests) > 1 and not any(argument.type.is_optional for argument in edges):
        some = f"not ({' is '.join(f'{argument.python_name}._mt_edge' for argument in edges)} is None)"
    grad_mode = "(state.grad_everywhere or thread.grad_enabled)"
    # Without grad mode the local variable `edge` must not hold the edge of a leaf that is written: `set_array` counts
    # the owners of the edge to decide whether a graph still refers to the leaf's node.
    parts = [grad_mode, some] if op.kind == "inplace" else [some, grad_mode]
    parts.append(f"({in_python_names(when)})" if when else "")
    return " and ".join(part for part in parts if part)


def _unless_seen(op: Op) -> str:
    """A composite op whose parts a mode or transform needs is recorded as these parts."""
    tensors = comma_separated(argument.python_name for argument in op.schema.tensor_arguments)
    return f"not (state.active_modes and looks_inside({tensors}))" if op.is_composite else ""


def _has_edge(argument: Argument, named: bool = False) -> str:
    """Whether an argument has an edge; with ``named`` the test also assigns it to the local variable `edge`."""
    name = argument.python_name
    test = f"(edge := {name}._mt_edge) is not None" if named else f"{name}._mt_edge is not None"
    return f"({name} is not None and {test})" if argument.type.is_optional else test


def unrecorded_write(model: Model, op: Op) -> str | None:
    """Whether an in-place op without a derivative has anything that requires grad; None if there is a derivative."""
    if model.derivative_of(op) is not None:
        return None
    tensors = op.schema.tensor_arguments
    some = " or ".join(_has_edge(argument) for argument in tensors)
    test = f"({some})" if len(tensors) > 1 else some
    return f"{test} and thread.grad_enabled and edges_of({tuple_of(argument.python_name for argument in tensors)})"


def in_python_names(formula: Formula) -> str:
    """A formula over the arguments as the generated function names them: ``self`` is ``input`` there."""
    names = {name: "input" + name.removeprefix("self") for name in formula.names if name.split(".")[0] == "self"}
    return formula.rewritten(names)


# -------------------- what is saved --------------------


def _kept(derivative: Derivative, op: Op, use: SavedUse) -> str:
    """An input as the node keeps it: None when no gradient that needs it is wanted, or when it is absent."""
    argument = _argument(derivative, use)
    name = argument.python_name
    conditions = [_needed(derivative, use)]
    if argument.type.is_tensor_list:
        saved = "None if tensor is None else save(tensor)" if "?" in str(argument.type) else "save(tensor)"
        text = f"[{saved} for tensor in {name}]"
    else:
        text = f"save_copy({name})" if op.kind == "inplace" and argument.name == "self" else f"save({name})"
        conditions += [f"{name} is not None"] if argument.type.is_optional else []
    given = [condition for condition in conditions if condition]
    return f"{text} if {' and '.join(given)} else None" if given else text


def _needed(derivative: Derivative, use: SavedUse) -> str:
    """Whether a gradient that needs a saved value is wanted; "" when all of them need it."""
    users = [edge_name(argument) for argument in derivative.edges if argument.name in use.arguments]
    if len(users) == len(derivative.edges):
        return ""
    return users[0] if len(users) == 1 else f"({' or '.join(users)})"


def _argument(derivative: Derivative, use: SavedUse) -> Argument:
    argument = derivative.op.schema.argument(use.value.name)
    assert argument is not None
    return argument


def _assignment(derivative: Derivative, use: SavedUse) -> str:
    argument = _argument(derivative, use)
    if use.value.kind == "value":
        return f"{use.value.field} = {argument.python_name}"
    return f"{use.value.field} = {_metadata(derivative.op, argument, use.value.attribute)}"


_OF_ARRAYS = {
    "shape": "{}.shape",
    "ndim": "{}.ndim",
    "dim()": "{}.ndim",
    "numel()": "{}.size",
    "stride()": "strides_of({})",
}


def _metadata(op: Op, argument: Argument, attribute: str) -> str:
    """A fact about a tensor. Shapes and the like come from the array, if there is one, which is quicker to ask."""
    name = argument.python_name
    if argument.type.is_tensor_list:
        return f"[tensor.{attribute.removesuffix('s')} for tensor in {name}]"
    of_array = None if op.is_composite else _OF_ARRAYS.get(attribute)
    text = of_array.format(array_name(argument)) if of_array else f"{name}.{attribute}"
    return f"None if {name} is None else {text}" if argument.type.is_optional else text


def _kept_after(derivative: Derivative, op: Op, use: SavedUse) -> str:
    """An output as the node keeps it, that of an in-place variant being its input; or an input that the op changes."""
    if use.value.kind == "input":
        return _kept(derivative, op, use)
    if op.kind == "inplace":
        return "save_output(node, input)"
    differentiable = dict(zip(derivative.op.schema.result_names, derivative.output_differentiability))
    has_gradient = differentiable.get(use.value.name, True)
    variable = use.value.name if len(derivative.op.schema.returns) > 1 else "result"
    return f"save_output(node, {variable})" if has_gradient else f"save({variable})"


_INTEGRAL = ("integral", "number_integral")


@dataclass(frozen=True, slots=True)
class GradCheck:
    """What an ``out=`` function does about gradients: lines before the kernel, and lines after it, if any.

    ``of_method``: the lines before it that see to methods as well, which take no `out`.
    """

    before: tuple[str, ...]
    after: tuple[str, ...] = ()
    of_method: tuple[str, ...] = ()

    @property
    def of_functional(self) -> tuple[str, ...]:
        """The lines before the kernel in the function of the functional op, which methods share."""
        return self.of_method or self.before


def grad_check_of_out(model: Model, op: Op) -> GradCheck | None:
    """How an ``out=`` function refuses tensors that require grad; None if its formulas say non-differentiable.

    torch has a fallback for ops that it has no formulas of, as factories and ops of integers. It uses their full names,
    and refuses only what may not be written in place: `out` becomes the output of a node that refuses backward passes.
    """
    functional = model.ops[op.derived_from] if op.derived_from else op
    derivative = model.derivatives.get(functional.name)
    if derivative is not None:
        operands = derivative.edges
    else:
        operands = functional.schema.tensor_arguments if functional.is_composite else ()
    is_without = derivative is None and (functional.dtypes in _INTEGRAL or functional.factory)
    if not operands and not is_without:
        return None
    inputs = [f"*{a.python_name}" if a.type.is_list else a.python_name for a in operands]
    out = "out" if len(op.schema.out_arguments) == 1 else "*out"
    has_formulas = derivative.has_formulas if derivative is not None else not is_without
    name = f'"{op.schema.base}"' if has_formulas else f'"aten::{op.schema.base}"'
    if has_formulas:
        return _formula_check(comma_separated([name, *inputs, out]), operands, out)
    given = comma_separated([name, "(out,)" if out == "out" else "out", *inputs])
    calls = f"refuse_unwritable({given})", f"record_refusal({given})"
    if inputs or out != "out":
        return GradCheck(*[(call,) for call in calls])
    return GradCheck(*[("if out._mt_edge is not None:", f"    {call}") for call in calls])


def _formula_check(given: str, operands: Sequence[Argument], out: str) -> GradCheck:
    """The call, which is spared if it can be told in a line that no tensor takes part in autograd."""
    call = f"refuse_grad({given})"
    if out != "out" or any(each.type.is_list or each.type.is_optional for each in operands):
        return GradCheck((call,))
    edges = " is ".join(f"{name}._mt_edge" for name in (*[each.python_name for each in operands], out))
    test = f"not ({edges} is None)"
    of_method = f"if IS_METHOD or {test}:", f"    refuse_out(IS_METHOD, {given})"
    return GradCheck((f"if {test}:", f"    {call}"), of_method=of_method)
