"""What the library's own code calls: `ops.<name>(...)`, and the kernels that it looks up by the name of an op.

Whoever removes or renames an op, or an argument of one, has to change these calls, too.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..emit.names import function_name
from ..errors import Problems, did_you_mean, did_you_mean_op
from ..model import Location, Model, Op
from ..read.yaml_source import read_text
from .call_forms import ANY_CALL, CallForm, CallForms, form_of_schema, mistakes
from .source_module import parsed

_NAMESPACE = "ops"
# The functions that take the full name of an op, ``run("sum.dim_IntList", x)``, each from a module of the library.
_BY_NAME = ("run", "kernel_table")
_CANDIDATE = re.compile(rf"\b(?:{_NAMESPACE}\.\w|(?:{'|'.join(_BY_NAME)})\(\s*\")")
_IMPORT = re.compile(r"\nfrom mindtorch[\w.]* import (?:\([^)]*\)|.*)")
_IMPORTED = re.compile(rf"\b(?:{'|'.join((_NAMESPACE, *_BY_NAME))})\b")
_REMEDY = "follow the change of {0}, or keep the old form there: under 'deprecated'"


@dataclass(frozen=True, slots=True)
class _Known:
    """What can be called: functions with the ways to call them, ops by full name, and the files of both."""

    functions: Mapping[str, CallForms]
    ops: frozenset[str]
    file: str


def check_own_calls(model: Model, problems: Problems) -> None:
    """Report the calls of ops, in the library's own files, that do not fit ops.yaml."""
    if not model.project.is_library:
        return
    known = _Known(_functions(model), frozenset(model.ops), model.project.ops)
    root = model.project.root
    for path in sorted((root / model.project.package).rglob("*.py")):
        _check_file(path, path.relative_to(root).as_posix(), known, problems)


def _functions(model: Model) -> dict[str, CallForms]:
    """The functions of `ops`, each with all ways of its overloads; of an old name any call is left to itself."""
    forms: dict[str, CallForms] = {}
    for op in model.ops.values():
        is_seen = op.kind != "out" or op.derived_from is None  # as the keyword of the functional op
        for name in {function_name(model, op), *[op.schema.name] * is_seen}:
            forms[name] = *forms.get(name, ()), _form(model, op)
        for old in op.deprecated:
            forms[old.schema.name] = ANY_CALL
    return forms


def _form(model: Model, op: Op) -> CallForm:
    """How a generated function is called: with ``out`` if there is that variant, a factory with ``requires_grad``."""
    form = form_of_schema(op.schema, method=False)
    added = (*("out",) * (model.variant(op, "out") is not None), *("requires_grad",) * op.factory)
    added = tuple(name for name in added if name not in form.names)
    return CallForm(
        form.positional, (*form.keyword_only, *added), form.optional.union(added), form.rest, more=form.more
    )


def _check_file(path: Path, file: str, known: _Known, problems: Problems) -> None:
    text = read_text(path, file, problems)
    if text is None or not any(_IMPORTED.search(statement) for statement in _IMPORT.findall(f"\n{text}")):
        return
    lines = _candidate_lines(text)
    if not lines:
        return
    try:
        tree = parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # whoever imports it is told
    imported = set(_imported(tree))
    for node in _nodes_at(tree, lines):
        if isinstance(node, ast.Attribute) and _is_ops(node.value) and _NAMESPACE in imported:
            _check_name(node, file, known, problems)
        elif isinstance(node, ast.Call):
            _check_call(node, file, imported, known, problems)


def _candidate_lines(text: str) -> list[int]:
    """The lines, counted from 1, in which something may be called, in order."""
    lines, line, end = [], 1, 0
    for found in _CANDIDATE.finditer(text):
        line += text.count("\n", end, found.start())
        end = found.start()
        lines.append(line)
    return lines


def _nodes_at(tree: ast.AST, lines: list[int]) -> Iterator[ast.AST]:
    """The nodes below ``tree``, without those of statements that reach over none of the lines."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.stmt) or _reaches(node, lines):
            yield node
            yield from _nodes_at(node, lines)


def _reaches(statement: ast.stmt, lines: list[int]) -> bool:
    """Whether a statement, with its decorators, reaches over one of the lines."""
    first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
    return bisect_left(lines, first) < bisect_right(lines, statement.end_lineno or first)


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names that come from elsewhere in the library."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindtorch"):
            yield from (alias.asname or alias.name for alias in node.names)


def _is_ops(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == _NAMESPACE


def _check_name(node: ast.Attribute, file: str, known: _Known, problems: Problems) -> None:
    if node.attr not in known.functions and not node.attr.startswith("__"):
        message = f"this uses ops.{node.attr}, which {known.file} does not have"
        hint = did_you_mean(node.attr, known.functions) or _REMEDY.format(known.file)
        problems.add("E047", message, Location(file, node.lineno, node.col_offset + 1), hint)


def _check_call(call: ast.Call, file: str, imported: set[str], known: _Known, problems: Problems) -> None:
    place = Location(file, call.lineno, call.col_offset + 1)
    function = call.func
    if isinstance(function, ast.Attribute) and _is_ops(function.value) and _NAMESPACE in imported:
        for message, _, hint in mistakes(function.attr, known.functions.get(function.attr, ANY_CALL), call):
            problems.add("E047", f"this call does not fit {known.file}: {message}", place, hint)
    elif isinstance(function, ast.Name) and function.id in _BY_NAME and function.id in imported:
        name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if isinstance(name, str) and name not in known.ops:
            message = f"this calls the kernel of '{name}', which {known.file} does not have"
            hint = did_you_mean_op(name, known.ops) or _REMEDY.format(known.file)
            problems.add("E047", message, place, hint)
