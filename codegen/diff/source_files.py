"""The files of a state that people write or read: the package, the generator, tests and pages, as texts.

The generator's model has what ops are made of. All else that users call is compared by these texts, and read with
``ast``: nothing of either state is run.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeAlias

from ..model import Model

Files: TypeAlias = Mapping[str, bytes]
EVERYTHING = "*"
SUFFIXES = (".py", ".jinja", ".md")
_FOLDERS = ("codegen", "docs", "tests")
_SKIPPED = ("__pycache__", "build", "node_modules")
_IMPORT = re.compile(rb"^from ([\w.]+) import (?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE)
_ALIAS = re.compile(rb"(\w+)(?:\s+as\s+(\w+))?")


class Import(NamedTuple):
    """A name that a file has from a module: ``from module import name as alias``. ``is_export``: for its users."""

    file: str
    module: str
    name: str
    alias: str
    is_export: bool


def read_files(root: Path, package: str, generated: str) -> dict[str, bytes]:
    """The texts of a folder, by path below it with slashes."""
    tops = dict.fromkeys(PurePosixPath(each).parts[0] for each in (package, *_FOLDERS, generated))
    paths = (path for top in tops for path in _walked(root / top))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def _walked(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and name[0] != ".")
        yield from (Path(place, name) for name in sorted(names) if name.endswith(SUFFIXES))


def is_source(file: str, model: Model) -> bool:
    """Whether people wrote the file for the package: kernels, functions, classes."""
    project = model.project
    package = PurePosixPath(project.sources, project.package).as_posix()
    made = (f"{project.generated}/", f"{project.type_stubs}/")
    return file.startswith(f"{package}/") and file.endswith(".py") and not file.startswith(made)


@cache
def tree_of(text: bytes) -> ast.Module | None:
    """The parsed file; None if it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@cache
def imports_of(file: str, text: bytes) -> tuple[Import, ...]:
    """What the top level of a file imports. A name is for users if it is exported: ``name as name``."""
    return tuple(_imports(file, text))


def _imports(file: str, text: bytes) -> Iterator[Import]:
    for found in _IMPORT.finditer(text):
        listed = re.sub(rb"#[^\n]*", b"", found[2] or found[3])
        if listed.strip() == EVERYTHING.encode():
            yield Import(file, found[1].decode(), EVERYTHING, EVERYTHING, is_export=True)
        for alias in _ALIAS.finditer(listed):
            name, other = alias[1].decode(), (alias[2] or alias[1]).decode()
            is_export = name == other and alias[2] is not None or file.endswith("/__init__.py")
            yield Import(file, found[1].decode(), name, other, is_export)
