"""Decompositions as Python: the expression in a generated function, and what follows from it for in-place and out=."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from ..model import Formula, Kind, Model, Op, Reference
from ..read.scope import BUILTINS
from .names import function_name, op_reference, ops_of_function, root_of, visible_overloads
from .signatures import python_default

# Constants that a module of ops cannot have under their own names.
RENAMED_CONSTANTS = {"bool": "boolean"}


def expression(model: Model, op: Op, formula: Formula | None = None) -> str:
    """The decomposition of an op, over the parameters of its function."""
    formula = formula or decomposition_of(op)
    return formula.rewritten(_names(model, op, formula))


def decomposition_of(op: Op) -> Formula:
    assert op.decomposition is not None
    return op.decomposition


def _names(model: Model, op: Op, formula: Formula) -> dict[str, str]:
    names = {name: op_reference(model, name) for name in formula.ops}
    names |= {f"constants.{name}": RENAMED_CONSTANTS.get(name, name) for name in formula.constants}
    names |= {name: f"builtins.{name}" for name in (formula.names & BUILTINS) - names.keys() if name in model.groups}
    own = {argument.name for argument in op.schema.inputs}
    for argument in root_of(model, op).schema.inputs:
        python = argument.python_name
        array = "" if argument.type.is_optional else "._mt_array"
        names[argument.name] = python if argument.name in own else python_default(argument) or "None"
        names |= {f"{argument.name}.{fact}": f"{python}{array}.{fact}" for fact in ("shape", "ndim")}
    return names


def as_function(model: Model, op: Op) -> str:
    """The decomposition as a function and its arguments, for who runs it."""
    parameters = ", ".join(argument.python_name for argument in op.schema.inputs)
    return f"lambda {parameters}: {expression(model, op)}, {parameters}"


# -------------------- in-place and out= --------------------


def derived_form(model: Model, op: Op) -> str | None:
    """An in-place or out= variant as that of the outermost op of the decomposition; None if that has none."""
    formula = decomposition_of(op)
    call = formula.tree
    if not isinstance(call, ast.Call) or not (op.kind == "out" or _starts_with_self(call)):
        return None
    name = _op_of(call, formula)
    function = _variant(model, name, op.kind) if name else None
    return function and expression(model, op, replace(formula, tree=_in_form(call, function, op.kind)))


def _starts_with_self(call: ast.Call) -> bool:
    first = _arguments(call)[:1]
    return bool(first) and _is_self(first[0])


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, Reference) and node.id == "self"


def _arguments(call: ast.Call) -> list[ast.expr]:
    """The positional arguments, that in front of a method's dot among them."""
    return [call.func.value, *call.args] if isinstance(call.func, ast.Attribute) else call.args


def _op_of(call: ast.Call, formula: Formula) -> str:
    """The name of the op, or of the method, that is called; "" for another function."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, Reference) and function.id in formula.ops else ""


def _variant(model: Model, name: str, kind: Kind) -> str | None:
    """What is called for a variant of an op, by the name of a group of overloads or of one overload's function."""
    overloads = visible_overloads(model, name)
    if overloads:
        return _of_group(model, name, overloads, kind)
    variants = [model.variant(each, kind) for each in ops_of_function(model, name)]
    return op_reference(model, function_name(model, variants[0])) if variants and variants[0] else None


def _of_group(model: Model, name: str, overloads: Iterable[Op], kind: Kind) -> str | None:
    variants = [variant for each in overloads if (variant := model.variant(each, kind))]
    if not variants or kind == "out":
        return op_reference(model, name) if variants else None
    return f"input.{name}_" if all(each.is_method for each in variants) else op_reference(model, f"{name}_")


def _in_form(call: ast.Call, function: str, kind: Kind) -> ast.Call:
    given = _arguments(call)[function.startswith("input.") :]
    out = [ast.keyword("out", ast.Name("out", ast.Load()))] if kind == "out" else []
    return ast.Call(ast.parse(function, mode="eval").body, given, [*call.keywords, *out])
