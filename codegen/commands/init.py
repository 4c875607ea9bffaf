"""``mindtorch-codegen init NAME``: the files of a package with one op, to start from. No file is overwritten."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ..errors import Problems
from ..keys import DERIVATIVE_KEYS, LIBRARY_KEYS, OP_KEYS
from ..model import Location
from ..project_file import FILE, has_settings, sources_of
from ..read.entries import is_identifier
from ..render import render
from . import write

HELP = "start a package with ops of its own: its settings, one op to copy, and tests"

# The template of each file.
_FILES = {
    "ops.yaml": "init_ops.yaml.jinja",
    "derivatives.yaml": "init_derivatives.yaml.jinja",
    "{}/__init__.py": "init_package.py.jinja",
    "{}/py.typed": "",
    "{}/cpu/__init__.py": "init_kernels.py.jinja",
    "{}/cpu/pointwise.py": "init_pointwise.py.jinja",
    "tests/samples.py": "init_samples.py.jinja",
    "tests/test_ops.py": "init_test_ops.py.jinja",
}

_OP_KEYS = tuple(key for key in OP_KEYS if key.name not in LIBRARY_KEYS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of the package")
    parser.set_defaults(find_root=lambda start: start)


def run(options: argparse.Namespace, root: Path) -> int:
    _check(options.name, root)
    folder = str(PurePosixPath(sources_of(root, options.name), options.name))
    for path, text in _texts(options.name, folder, root):
        if text is None:
            print(f"kept {path.relative_to(root).as_posix()}, which was there")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"created {path.relative_to(root).as_posix()}")
    return write.run(options, root)


def _check(name: str, root: Path) -> None:
    """A name that can be imported, in a folder that is no project yet."""
    problems = Problems()
    if not is_identifier(name):
        hint = "letters, digits and underscores: it is imported under this name"
        problems.add("E104", f"'{name}' is no name of a package", Location(FILE, 1, 1), hint)
    if has_settings(root):
        hint = "to add an op: mindtorch-codegen new"
        problems.add("E105", "this folder is a project already", Location(FILE, 1, 1), hint)
    problems.raise_if_any()


def _texts(name: str, folder: str, root: Path) -> Iterator[tuple[Path, str | None]]:
    """The files to write, None for those that stay; a pyproject.toml that is there gets the settings at its end."""
    settings = render("init_settings.toml.jinja", package=name, folder=folder)
    file = root / FILE
    own = file.read_text(encoding="utf-8").rstrip("\n") + "\n\n" if file.is_file() else None
    sources = str(PurePosixPath(folder).parent)
    yield file, (own or render("init_pyproject.toml.jinja", package=name, sources=sources)) + settings
    for pattern, template in _FILES.items():
        path = root / pattern.format(folder)
        text = render(template, package=name, op_keys=_OP_KEYS, derivative_keys=DERIVATIVE_KEYS) if template else ""
        yield path, None if path.exists() else text
