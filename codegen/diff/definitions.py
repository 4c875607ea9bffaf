"""What a file of Python defines, read with ``ast``, and what of it differs from another state of the file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
MODULE = "<module>"
Kind = Literal["function", "class", "property", "value", "module"]


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or value at the top level, or a member of a class: ``name`` is then "Class.member"."""

    name: str
    node: ast.stmt
    kind: Kind

    @property
    def function(self) -> Function | None:
        return self.node if isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None

    @property
    def docstring(self) -> str | None:
        """What ``help`` shows."""
        has_one = isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        return ast.get_docstring(self.node, clean=False) if has_one else None  # type: ignore[arg-type]


def definitions(tree: ast.Module) -> dict[str, Definition]:
    """All of a file; statements that define nothing together are ``<module>``."""
    found: dict[str, Definition] = {}
    others: list[ast.stmt] = []
    for statement in _flat(tree.body):
        names = _names(statement)
        if isinstance(statement, ast.ClassDef):
            found |= {each.name: each for each in _class(statement)}
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[statement.name] = Definition(statement.name, statement, "function")
        elif names:
            found |= {name: Definition(name, statement, "value") for name in names}
        elif not isinstance(statement, (ast.Import, ast.ImportFrom)) and not _is_text(statement):
            others.append(statement)
    if others:
        module = ast.If(ast.Constant(True), others, [], lineno=others[0].lineno, col_offset=0)
        found[MODULE] = Definition(MODULE, module, "module")
    return found


def _flat(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body; a definition may stand in an ``if`` or a ``try``."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _flat((*statement.body, *statement.orelse))
        elif isinstance(statement, ast.Try):
            yield from _flat((*statement.body, *(s for h in statement.handlers for s in h.body), *statement.orelse))
        else:
            yield statement


def _names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Assign):
        targets = [each for target in statement.targets for each in ast.walk(target)]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    else:
        return []
    return [each.id for each in targets if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _class(statement: ast.ClassDef) -> Iterator[Definition]:
    """The class without its methods, and these."""
    methods = [each for each in statement.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    rest = [each for each in statement.body if each not in methods]
    head = ast.ClassDef(
        statement.name,
        statement.bases,
        statement.keywords,
        rest or [ast.Pass()],
        statement.decorator_list,
        lineno=statement.lineno,
        col_offset=statement.col_offset,
    )
    yield Definition(statement.name, head, "class")
    for method in methods:
        kind: Kind = "property" if _is_property(method) else "function"
        yield Definition(f"{statement.name}.{method.name}", method, kind)


def _is_property(function: Function) -> bool:
    names = [getattr(each, "attr", getattr(each, "id", "")) for each in function.decorator_list]
    return any(name in ("property", "cached_property", "setter", "deleter") for name in names)


def decorators(definition: Definition) -> list[str]:
    """The names of its decorators."""
    calls = (getattr(each, "func", each) for each in getattr(definition.node, "decorator_list", ()))
    return [getattr(each, "attr", getattr(each, "id", "")) for each in calls]


def same_code(old: Definition, new: Definition) -> bool:
    """Whether two definitions do the same, but for arguments, docstrings, annotations and comments."""
    return not differ(_code(old), _code(new))


def _code(definition: Definition) -> list[object]:
    node = definition.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        body = node.body[1:] if definition.docstring is not None else node.body
        return [type(node).__name__, list(body), list(node.decorator_list)]
    return [node]


def differ(old: object, new: object, is_same_text: object = None) -> bool:
    """Whether two trees differ in what has an effect. ``is_same_text`` may take two texts for one."""
    waiting: list[tuple[object, object]] = [(old, new)]  # no recursion: expressions can be too deep for it
    while waiting:
        before, after = waiting.pop()
        parts, others = _parts(before), _parts(after)
        if type(before) is not type(after) or len(parts) != len(others):
            return True
        if not isinstance(before, (ast.AST, list)) and before != after:
            if not (callable(is_same_text) and is_same_text(before, after)):
                return True
        waiting += zip(parts, others)
    return False


def _parts(value: object) -> list[object]:
    """What a node or a list consists of, without what has no effect: docstrings and annotations."""
    if isinstance(value, list):
        return value
    if not isinstance(value, ast.AST):
        return []
    parts = [getattr(value, name, None) for name in value._fields if name not in ("annotation", "returns")]
    if isinstance(value, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(value, clean=False) is not None:
        parts[value._fields.index("body")] = value.body[1:]
    return parts
