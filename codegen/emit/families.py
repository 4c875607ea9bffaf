"""generated/families.py: which names are whose, so that a family is loaded when one of them is asked for."""

from __future__ import annotations

from ..model import Model
from ..render import python_module, render
from .methods import names_of_methods
from .ops import names_of_functions


def emit(model: Model) -> dict[str, str]:
    methods = {family: names_of_methods(model, family) for family in model.families}
    body = render(
        "families.py.jinja",
        functions={family: names_of_functions(model, family) for family in model.families},
        methods={family: names for family, names in methods.items() if names},
    )
    purpose = "The names that have a family loaded when one of them is first asked for."
    return {"generated/families.py": python_module(model.project, "families", "ops.yaml", purpose, body, {})}
