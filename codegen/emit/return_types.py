"""generated/return_types.py: the classes of results with several named parts."""

from __future__ import annotations

from ..model import Model, Op
from ..render import python_module, render
from .functions import return_type


def emit(model: Model) -> dict[str, str]:
    classes: dict[str, tuple[str, list[str]]] = {}
    for op in model.ops.values():
        name = return_type(op)
        if name is not None:
            classes.setdefault(name, (str(op.schema), _fields(op)))
    body = render("return_types.py.jinja", classes=classes)
    imports = {"NamedResult": "mindtorch.named_result", "Tensor": "mindtorch.tensor"}
    purpose = "The results with several named parts, such as `max` along a dimension."
    text = python_module(model.project, "return_types", "ops.yaml", purpose, body, imports)
    return {"generated/return_types.py": text}


def _fields(op: Op) -> list[str]:
    return [str(result.name) for result in op.schema.returns]
