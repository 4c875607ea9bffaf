"""``python -m codegen stats``: how much there is, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from codegen.emit.stubs import is_written
from codegen.model import Model


def statistics(model: Model) -> str:
    entries = [op for op in model.ops.values() if op.derived_from is None]
    kinds = Counter(op.kind for op in model.ops.values())
    lines = [
        f"{len(entries)} ops in {len(model.families)} families, {len(model.ops)} with their variants",
        "  " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
        f"{sum(op.is_composite for op in entries)} composite ops",
        f"{len(model.derivatives)} derivatives: {_formulas(model)}",
    ]
    return "\n".join([*lines, *_kernels(model)])


def _formulas(model: Model) -> str:
    backward = sum(len(derivative.backward) for derivative in model.derivatives.values())
    forward = sum(len(derivative.forward) for derivative in model.derivatives.values())
    return f"{backward} backward formulas, {forward} forward formulas"


def _kernels(model: Model) -> Iterator[str]:
    """One line per backend, and the gaps of those that have some kernels."""
    backends = dict.fromkeys(name for op in model.ops.values() for name in op.dispatch or ())
    for backend in backends:
        ops = [op for op in model.ops.values() if op.derived_from is None and backend in (op.dispatch or {})]
        missing = [op.name for op in ops if not is_written(model, backend, op)]
        yield f"{backend}: {len(ops) - len(missing)} of {len(ops)} kernels"
        if missing and len(missing) < len(ops):
            yield f"  missing: {', '.join(missing)}"
