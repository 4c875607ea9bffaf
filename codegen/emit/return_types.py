"""generated/return_types.py and .pyi: the classes of results with several named parts."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import Model, Op
from ..project import LIBRARY
from ..render import header, import_lines, python_module, render, used_names
from .functions import return_type

_OF_STUB = {
    "Sequence": "collections.abc",
    **dict.fromkeys(("Any", "ClassVar"), "typing"),
    "Self": "typing_extensions",
    "Tensor": "mindtorch._core.tensor",
}


def emit(model: Model) -> dict[str, str]:
    classes: dict[str, tuple[str, list[str]]] = {}
    for op in model.ops.values():
        name = return_type(op)
        if name is not None:
            classes.setdefault(name, (str(op.schema), _fields(op)))
    body = render("return_types.py.jinja", classes=classes)
    imports = {"NamedResult": "mindtorch._core.named_result", "Tensor": "mindtorch._core.tensor"}
    purpose = "The results with several named parts, such as `max` along a dimension."
    text = python_module(model.project, "return_types", "ops.yaml", purpose, body, imports)
    return {"generated/return_types.py": text, "generated/return_types.pyi": _stub(model, classes)}


def _stub(model: Model, classes: Mapping[str, tuple[str, list[str]]]) -> str:
    """The same for type checkers: tuples that know how many parts they have."""
    body = render("return_types.pyi.jinja", classes={name: fields for name, (_, fields) in classes.items()})
    packages = dict.fromkeys(("typing_extensions", LIBRARY))
    return (
        f"{header(model.project, 'return_types', 'ops.yaml')}{import_lines(used_names(body), _OF_STUB, packages)}{body}"
    )


def _fields(op: Op) -> list[str]:
    return [str(result.name) for result in op.schema.returns]
