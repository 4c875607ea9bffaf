"""How the warning about a deprecated call shows the old call and the new one: ``torch.sum_to(x, size=...)``."""

from __future__ import annotations

import ast

from ..keys import TORCH
from ..model import FunctionSchema, Model, OldForm, Op
from ..read.expressions import called_functions, function_of, parse_expression
from ..read.places import place_of
from .names import comma_separated, root_of


def shown_old_call(model: Model, op: Op, form: OldForm) -> str:
    """The old call. Arguments that have another name now are given by keyword: that is the call that stops working."""
    words = []
    by_keyword = False
    changed = _other_names(model, op, form)
    for argument in form.schema.inputs:
        if argument.name == "self":
            words.append("x")
        elif argument.default is None or argument.name in changed:
            by_keyword = by_keyword or argument.kwarg_only or argument.name in changed
            words.append(f"{argument.python_name}=..." if by_keyword else argument.python_name)
    return f"{_place(op, form.schema.name)}({comma_separated(words)})"


def shown_new_call(model: Model, op: Op, form: OldForm) -> str:
    """The new call in the same manner."""
    tree = parse_expression(form.expression.text)
    root = root_of(model, op).schema
    optional = {argument.name for argument in form.schema.inputs if argument.default is not None}
    for call in called_functions(tree):
        if function_of(call) == root.name:
            _name_changed(call, root, _other_names(model, op, form), optional)
    return ast.unparse(_Shown(op, root.name).visit(tree))


def advice(model: Model, op: Op, form: OldForm, quote: str = "") -> str:
    """What to do about a deprecated call, in a few words."""
    new = f"{quote}{shown_new_call(model, op, form)}{quote}"
    if form.since is None or form.since.text == TORCH or form.removal is None:
        return f"deprecated by PyTorch: use {new}"
    return f"deprecated since {form.since.text}, removed in {form.removal.text}: use {new}"


def _place(op: Op, name: str) -> str:
    """Where the function of a name is found, or the method."""
    return place_of(op, op.package, name) if op.is_function else f"{op.package}.Tensor.{name}"


def _other_names(model: Model, op: Op, form: OldForm) -> dict[str, str]:
    """The old arguments that the op takes under another name, with that name."""
    target = root_of(model, op).schema
    known = {argument.name for argument in form.schema.inputs}
    changed: dict[str, str] = {}
    for call in called_functions(parse_expression(form.expression.text)):
        if function_of(call) == target.name:
            places = [argument.name for argument in target.positional]
            given = [*zip(places, call.args), *((keyword.arg, keyword.value) for keyword in call.keywords)]
            changed |= {
                value.id: name
                for name, value in given
                if isinstance(value, ast.Name) and value.id in known and name is not None and value.id != name
            }
    return changed


def _name_changed(call: ast.Call, target: FunctionSchema, changed: dict[str, str], optional: set[str]) -> None:
    """Give the arguments with another name, and all behind them, by keyword, and leave out what had a default."""
    places = [argument.name for argument in target.positional]
    given = list(zip(places, call.args))
    first = next((i for i, (_, value) in enumerate(given) if _id(value) in changed), len(given))
    keywords = [ast.keyword(name, value) for name, value in given[first:]] + call.keywords
    call.args = [value for _, value in given[:first]]
    call.keywords = [keyword for keyword in keywords if _id(keyword.value) not in optional - changed.keys()]
    for keyword in call.keywords if changed else ():
        if isinstance(keyword.value, ast.Name):
            keyword.value = ast.Constant(...)


def _id(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


class _Shown(ast.NodeTransformer):
    """The functions where they are found, and the tensor as x."""

    def __init__(self, op: Op, own: str) -> None:
        self._op, self._own = op, own

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if isinstance(node.func, ast.Name):
            name = self._op.schema.name if node.func.id == self._own else node.func.id
            node.func = ast.Name(_place(self._op, name))
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("x") if node.id == "self" else node
