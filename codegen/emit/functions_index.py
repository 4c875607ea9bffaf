"""generated/functions.py: the functions that `mindtorch` shows at its top level."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Model
from ..render import header, render
from .names import visible_overloads
from .old_calls import old_names


def emit(model: Model) -> dict[str, str]:
    families = {family: list(function_names(model, family)) for family in model.families}
    shown = {family: names for family, names in families.items() if names}
    body = render("functions.py.jinja", package=model.project.generated_package, families=shown)
    purpose = f'"""The functions at the top level of {model.project.package}."""\n\n'
    return {"generated/functions.py": header(model.project, "functions_index", "ops.yaml") + purpose + body}


def function_names(model: Model, family: str) -> Iterator[str]:
    """The names of a family's public functions, in the order of ops.yaml."""
    for name in dict.fromkeys(op.schema.name for op in model.families[family] if op.kind != "out"):
        overloads = visible_overloads(model, name)
        if any(op.is_function and op.python_module is None for op in overloads):
            yield name
    yield from (old.name for old in old_names(model, family) if old.is_function)
