"""generated/schemas.py: the schema string of every op, by name."""

from __future__ import annotations

from ..model import Model
from ..render import python_module, render


def emit(model: Model) -> dict[str, str]:
    body = render("schemas.py.jinja", families=model.families)
    purpose = "The schema of every op, the in-place and out= variants included."
    return {"generated/schemas.py": python_module("schemas", "ops.yaml", purpose, body, {})}
