"""generated/schemas.py: the schema string of every op, by name."""

from __future__ import annotations

from ..model import Model
from ..render import python_module, render


def emit(model: Model) -> dict[str, str]:
    name = model.project.registered_name
    families = {family: [(name(op.name), name(str(op.schema))) for op in ops] for family, ops in model.families.items()}
    body = render("schemas.py.jinja", families=families)
    purpose = "The schema of every op, the in-place and out= variants included."
    return {"generated/schemas.py": python_module(model.project, "schemas", "ops.yaml", purpose, body, {})}
