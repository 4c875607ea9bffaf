"""Where a kernel is really defined: a family's module may import it from another one."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from codegen.model import Location


def definition(root: Path, location: Location, name: str) -> Location:
    """The place of a function, given that of the statement which brings the name into a module."""
    statement = next(node for node in _statements(root / location.file) if node.lineno == location.line)
    if not isinstance(statement, ast.ImportFrom):
        return location
    original = next(alias.name for alias in statement.names if (alias.asname or alias.name) == name)
    file = _module_file(root, statement, location.file)
    found = (node for node in _statements(root / file) if original in _names(node))
    return definition(root, Location(file, next(found).lineno, 1), original)


def _module_file(root: Path, statement: ast.ImportFrom, importer: str) -> str:
    folder = importer.split("/")[: -statement.level] if statement.level else []
    path = "/".join([*folder, *(statement.module or "").split(".")])
    return f"{path}.py" if (root / f"{path}.py").is_file() else f"{path}/__init__.py"


def _names(statement: ast.stmt) -> list[str]:
    """What a statement at the top of a module defines."""
    if isinstance(statement, ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    return [getattr(target, "id", getattr(target, "name", "")) for target in targets]


@cache
def _statements(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8")).body
