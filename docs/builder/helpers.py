"""The helper functions of the formulas: what they say of themselves, and as mathematics where that is possible."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.model import Location
from codegen.project import Project

from . import mathml as m
from .formula_math import SIGNS, expression


@dataclass(frozen=True, slots=True)
class HelperText:
    """A helper: its signature, the first sentence of its docstring, its steps as MathML, and the source."""

    name: str
    signature: str
    summary: str
    equations: tuple[str, ...]
    source: str
    location: Location


def read_helpers(project: Project) -> dict[str, HelperText]:
    """The public functions of the files with helpers, by name."""
    helpers = (helper for file in project.formula_files() for helper in _of_file(project, file))
    return {helper.name: helper for helper in helpers}


def _of_file(project: Project, file: str) -> Iterator[HelperText]:
    text = (project.root / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield _helper(node, file, lines)


def _helper(function: ast.FunctionDef, file: str, lines: list[str]) -> HelperText:
    signature = f"{function.name}({ast.unparse(function.args)})"
    return HelperText(
        function.name,
        signature,
        (ast.get_docstring(function) or "").partition("\n\n")[0].replace("\n", " "),
        tuple(_equations(function)),
        "\n".join(lines[function.lineno - 1 : function.end_lineno]),
        Location(file, function.lineno, 1),
    )


def _equations(function: ast.FunctionDef) -> Iterator[str]:
    """A line per step. There are none for a function that does more than name values and return one."""
    steps = [step for step in function.body if not _is_docstring(step)]
    if not (isinstance(steps[-1], ast.Return) and all(map(_names_a_value, steps[:-1]))):
        return
    for step in steps:
        if isinstance(step, (ast.Assign, ast.Return)) and step.value is not None:
            yield m.math(m.row(_left(function, step), m.operator("="), expression(ast.unparse(step.value), SIGNS)))


def _left(function: ast.FunctionDef, step: ast.stmt) -> str:
    if isinstance(step, ast.Assign):
        return expression(ast.unparse(step.targets[0]), SIGNS)
    arguments = [SIGNS.get(each.arg) or m.identifier(each.arg) for each in function.args.args]
    return m.call(m.identifier(function.name), arguments)


def _names_a_value(step: ast.stmt) -> bool:
    return isinstance(step, ast.Assign) and len(step.targets) == 1


def _is_docstring(step: ast.stmt) -> bool:
    return isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant)
