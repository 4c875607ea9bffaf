"""generated/functions.py and generated/modules/: the functions that `mindtorch` and its modules of ops show."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Model
from ..places import modules_of_ops, name_in_module
from ..render import header, render
from .names import visible_overloads
from .old_calls import old_names


def emit(model: Model) -> dict[str, str]:
    package = model.project.package
    files = {"generated/functions.py": _index(model, None, f"The functions at the top level of {package}.")}
    for module in modules_of_ops(model):
        files[f"generated/modules/{module}.py"] = _index(model, module, f"The ops that are in {package}.{module}.")
    return files


def _index(model: Model, module: str | None, purpose: str) -> str:
    families = {family: list(function_names(model, family, module)) for family in model.families}
    body = render(
        "functions.py.jinja",
        package=model.project.generated_package,
        families={family: _shown(names, module) for family, names in families.items() if names},
    )
    return f'{header(model.project, "functions_index", "ops.yaml")}"""{purpose}"""\n\n{body}'


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
