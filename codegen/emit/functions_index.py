"""generated/functions.py and generated/modules/: the functions that `mindtorch` and its modules of ops show."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Model
from ..read.places import modules_of_ops, name_in_module
from ..render import header, python_module, render
from .names import visible_overloads
from .old_calls import old_names


def emit(model: Model) -> dict[str, str]:
    package = model.project.generated_package
    own = "ops" if model.project.is_library else "own_ops"
    body = render("functions.py.jinja", families=_families(model, None), functions=own)
    imports = {"Any": "typing", "ops": "mindtorch.dispatch", "own_ops": package}
    purpose = f"The functions at the top level of {model.project.package}."
    text = python_module(model.project, "functions_index", "ops.yaml", purpose, body, imports)
    files = {"generated/functions.py": text}
    for module in modules_of_ops(model):
        body = render("module_of_ops.py.jinja", package=package, families=_families(model, module))
        purpose = f"The ops that are in {model.project.package}.{module}."
        text = f'{header(model.project, "functions_index", "ops.yaml")}"""{purpose}"""\n\n{body}'
        files[f"generated/modules/{module}.py"] = text
    return files


def _families(model: Model, module: str | None) -> dict[str, dict[str, str]]:
    """The functions of a module, or those at the top level, by family."""
    families = {family: list(function_names(model, family, module)) for family in model.families}
    return {family: _shown(names, module) for family, names in families.items() if names}


def _shown(names: list[str], module: str | None) -> dict[str, str]:
    """The functions as they are called in their module."""
    return {name: name_in_module(name, module) for name in names}


def function_names(model: Model, family: str, module: str | None = None) -> Iterator[str]:
    """The functions of a family that are in a module, or at the top level, in the order of ops.yaml."""
    for name in dict.fromkeys(op.schema.name for op in model.families[family] if op.kind != "out"):
        overloads = visible_overloads(model, name)
        if any(op.is_function and op.python_module == module and op.is_shown for op in overloads):
            yield name
    yield from (old.name for old in old_names(model, family) if old.is_function_of(module))
