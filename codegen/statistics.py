"""How much there is, and what is missing: ``python -m codegen stats``, and the notes of a run that writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .emit.kernel_texts import is_written
from .errors import did_you_mean
from .model import Model, Op
from .npu.kernels import BACKEND, ops_by_way


def statistics(model: Model) -> str:
    entries = [op for op in model.ops.values() if op.derived_from is None]
    kinds = Counter(op.kind for op in model.ops.values())
    lines = [
        f"{_counted(len(entries), 'op')} in {_counted(len(model.families), 'family', 'families')}, "
        f"{len(model.ops)} with their variants",
        "  " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
        _counted(sum(op.is_composite for op in entries), "composite op"),
        f"{_counted(len(model.derivatives), 'derivative')}: {_formulas(model)}",
    ]
    return "\n".join([*lines, *_without_forward(model), *_kernels(model)])


def _counted(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def notes(model: Model) -> Iterator[str]:
    """The kernels that are to be written, or misspelt, in files that have kernels already.

    The NPU can do without: only what looks misspelt is noted.
    """
    for backend, family in model.kernels:
        for op in model.families.get(family, ()):
            name = (op.dispatch or {}).get(backend)
            if op.derived_from is None and name is not None and not is_written(model, backend, op):
                yield from _note(model, backend, op, name)


def _note(model: Model, backend: str, op: Op, name: str) -> Iterator[str]:
    place, hint = model.project.kernel_place(backend, op.family), kernel_hint(model, backend, op)
    if hint or backend != BACKEND:
        yield f"note: {op.name} has no {backend} kernel '{name}' in {place}{hint}; wrote a stub"


def kernel_hint(model: Model, backend: str, op: Op) -> str:
    """What the name of a missing kernel may have been meant to be, in brackets: nothing that another op has."""
    served = {(each.dispatch or {}).get(backend) for each in model.families[op.family]}
    written = model.kernels.get((backend, op.family), {}).keys()
    close = did_you_mean((op.dispatch or {})[backend], written - served)
    return f" ({close})" if close else ""


def _formulas(model: Model) -> str:
    backward = sum(len(derivative.backward) for derivative in model.derivatives.values())
    forward = sum(len(derivative.forward) for derivative in model.derivatives.values())
    return f"{_counted(backward, 'backward formula')}, {_counted(forward, 'forward formula')}"


def _without_forward(model: Model) -> Iterator[str]:
    """A derivative that can be taken backward only; one without any formula of its own is not listed."""
    derivatives = model.derivatives.values()
    missing = [each.op.name for each in derivatives if each.edges and not each.forward]
    if missing:
        yield f"  without a forward formula: {', '.join(missing)}"


def _kernels(model: Model) -> Iterator[str]:
    """One line per backend, and the gaps of those that have some kernels."""
    backends = dict.fromkeys(name for op in model.ops.values() for name in op.dispatch or ())
    for backend in backends:
        ops = [op for op in model.ops.values() if op.derived_from is None and backend in (op.dispatch or {})]
        missing = [op.name for op in ops if not is_written(model, backend, op)]
        yield f"{backend}: {len(ops) - len(missing)} of {len(ops)} kernels"
        if backend == BACKEND:
            yield from _ways(model)
        elif missing and len(missing) < len(ops):
            yield f"  missing: {', '.join(missing)}"


def _ways(model: Model) -> Iterator[str]:
    """How each op runs on the NPU. Until a kernel is written, the CPU's is called, too."""
    for way, names in ops_by_way(model).items():
        yield f"  {way} ({len(names)}): {', '.join(names)}".rstrip(": ")
