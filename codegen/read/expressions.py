"""The expressions of ``deprecated`` and ``versions``: a call in an old form, written as one that is understood now."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ..model import FunctionSchema

_UNSUPPORTED = (
    ast.Lambda, ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.Yield,
    ast.YieldFrom,
)  # fmt: skip


def parse_expression(text: str) -> ast.expr:
    """The tree of an expression; raises SyntaxError for what is none, and for the parts of Python that bind names.

    It can be written out again: Python reads longer numbers than it writes.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        for node in ast.walk(tree):
            if isinstance(node, _UNSUPPORTED):
                raise SyntaxError(f"it cannot have a {type(node).__name__}")
        ast.unparse(tree)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError("it is too large") from error
    return tree


def called_functions(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls of functions, methods left out."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))


def function_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def used_names(tree: ast.AST) -> list[str]:
    """The names that are used otherwise than as functions, in the order in which they are written."""
    functions = {id(call.func) for call in called_functions(tree)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions)
    return [name.id for name in sorted(names, key=lambda name: name.col_offset)]


def is_call_on_self(text: str, function: str) -> bool:
    """Whether an expression is nothing but a call of ``function`` whose first argument is ``self``."""
    try:
        tree = parse_expression(text)
    except SyntaxError:
        return False
    first = tree.args[:1] if isinstance(tree, ast.Call) and function_of(tree) == function else []
    return any(isinstance(argument, ast.Name) and argument.id == "self" for argument in first)


def fits(call: ast.Call, schema: FunctionSchema) -> bool:
    """Whether a call gives a schema's arguments: each at most once, and all that are required."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    positional = [argument.name for argument in schema.positional]
    keywords = [keyword.arg or "**" for keyword in call.keywords]
    given = [*positional[: len(call.args)], *keywords]
    known = {argument.name for argument in schema.inputs}
    required = {argument.name for argument in schema.inputs if argument.default is None}
    is_short = len(call.args) <= len(positional)
    return is_short and len(set(given)) == len(given) and required <= set(given) <= known


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._names.get(node.id, node)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """An expression with some of its names replaced by other expressions."""
    replacements = {name: ast.parse(source, mode="eval").body for name, source in names.items()}
    return ast.unparse(_Renamer(replacements).visit(parse_expression(text)))
