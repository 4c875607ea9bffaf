"""generated/op_table.py: what the tests of a package need to know about its ops."""

from __future__ import annotations

from ..model import Kind, Model, Op
from ..render import python_module, render
from .names import registered_name

_KINDS: tuple[Kind, ...] = ("inplace", "out")


def emit(model: Model) -> dict[str, str]:
    ops = [op for op in model.ops.values() if op.derived_from is None and op.samples is not None]
    body = render("op_table.py.jinja", rows=[_row(model, op) for op in ops])
    purpose = "The ops that have test inputs: see mindtorch.testing.ops."
    text = python_module(model.project, "op_table", "ops.yaml", purpose, body, {"OpRow": "mindtorch.testing.ops"})
    return {"generated/op_table.py": text}


def _row(model: Model, op: Op) -> str:
    """The arguments of ``OpRow``."""
    words = [registered_name(model, op), str(op.samples), op.dtypes]
    variants = {kind: model.variant(op, kind) for kind in _KINDS}
    named = [f'{kind}="{registered_name(model, variant)}"' for kind, variant in variants.items() if variant]
    return ", ".join([*(f'"{word}"' for word in words), *named])
