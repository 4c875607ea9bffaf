"""The ``__init__.py`` of generated/ and of its folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from ..project import Project
from ..render import header, render

_PURPOSES = {
    "forward_ad": "Forward-mode derivatives, one function per op.",
    "nodes": "The steps of the backward graph, one class per derivative.",
    "methods": "What puts the ops that are methods and operators on Tensor.",
    "modules": "The ops of each module that consists of ops.",
    "parameters": "What the functions of ops take.",
    "ops": "The ops: what users call.",
    "stubs": "Kernels that are still to be written, by backend.",
}


def emit(project: Project, paths: Iterable[str]) -> dict[str, str]:
    """The packages that the Python files among ``paths`` need and that no other emitter has written."""
    files = {path for path in paths if path.startswith("generated/") and path.endswith(".py")}
    folders = {str(folder) for path in files for folder in PurePosixPath(path).parents if str(folder) != "."}
    packages = {f"{folder}/__init__.py": _package(project, folder) for folder in sorted(folders)}
    return {path: text for path, text in packages.items() if path not in files}


def _package(project: Project, folder: str) -> str:
    if folder == "generated":
        return header(project, "packages", "ops.yaml and derivatives.yaml") + render("root.py.jinja", project=project)
    name = PurePosixPath(folder).name
    return header(project, "packages", "ops.yaml") + f'"""{_PURPOSES.get(name, f"The {name} backend.")}"""\n'
