"""generated/batching.py: the kernels of ops inside `vmap`, which the batching rules make."""

from __future__ import annotations

from ..model import Model, Op
from ..render import python_module, render
from .names import registered_name


def emit(model: Model) -> dict[str, str]:
    families = {family: rows for family in model.families if (rows := _rows(model, family))}
    if not families:
        return {}
    purpose = "The kernels of ops inside `vmap`: those for a batch, from those for one sample."
    body = render("batching.py.jinja", families=families)
    imports = {"rules": "mindtorch.backends.batched"}
    return {"generated/batching.py": python_module(model.project, "batching", "ops.yaml", purpose, body, imports)}


def batched_ops(model: Model) -> list[Op]:
    """The ops with a batching rule. The others run for one sample after the other."""
    return [op for family in model.families for op in _batched(model, family)]


def _batched(model: Model, family: str) -> list[Op]:
    return [op for op in model.families[family] if op.derived_from is None and op.dispatch and _rule(model, op)]


def _rows(model: Model, family: str) -> list[tuple[str, str]]:
    """Each op with the call that makes its kernel."""
    rows = []
    for op in _batched(model, family):
        name = registered_name(model, op)
        promotion = "None" if op.promotion is None else f'"{op.promotion}"'
        rows.append((name, f'rules.{_rule(model, op)}("{name}", {promotion})'))
    return rows


def _rule(model: Model, op: Op) -> str | None:
    """The batching rule that the entry names, or the one that is called like its shape rule."""
    if op.schema.changed_inputs:
        return None
    takes_tensors = any(argument.type.base == "Tensor" for argument in op.schema.inputs)
    return next((word for word in (op.batch, op.shape) if takes_tensors and word in model.batching), None)
