"""generated/families.py: which names are whose, so that a family is loaded when one of them is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Model
from ..render import python_module, render
from .methods import names_of_methods


def family_names(model: Model, functions: Mapping[str, Sequence[str]]) -> str:
    """The module, of the names that the functions and ops of each family have."""
    methods = {family: names_of_methods(model, family) for family in model.families}
    named = {family: names for family, names in methods.items() if names}
    body = render("families.py.jinja", functions=functions, methods=named)
    purpose = "The names that have a family loaded when one of them is first asked for."
    return python_module(model.project, "families", "ops.yaml", purpose, body, {})
