"""What ``new`` prints: the entries with the reason for each line, and what is left to be written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff

from ..emit.kernel_texts import is_written, kernel_parameters
from ..model import Location, Op
from ..sources.hand_written import expected_parameters
from .derivative_entry import NO_GRADIENT, TO_WRITE
from .draft import Draft
from .op_entry import Line
from .plan import Added, Plan

_WIDTH = 46


def report(plan: Plan) -> str:
    """One part per op, and the command that shows what is left to do."""
    parts = ["\n".join(_part(plan, added)) for added in plan.added]
    if plan.listed:
        parts.append(f"already listed: {', '.join(op.name for op in plan.listed)}")
    bases = " or ".join(dict.fromkeys(added.draft.schema.base for added in plan.added))
    tests = "tests/ops" if plan.model.project.is_library else "tests"
    return "\n\n".join([*parts, f'What is still missing fails in: python -m pytest {tests} -k "{bases}"'])


def changes(plan: Plan) -> str:
    """The changed files as a patch."""
    patches = (
        unified_diff((plan.files.on_disk(file) or "").splitlines(True), text.splitlines(True), f"a/{file}", f"b/{file}")
        for file in plan.files.changed
        if (text := plan.files.read(file)) is not None
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for patch in patches for line in patch)


def _part(plan: Plan, added: Added) -> Iterator[str]:
    op, derivative = plan.op(added), plan.derivative(added)
    yield from _entry(op.location, added.op_lines)
    if derivative is not None:
        yield from _entry(derivative.location, added.derivative_lines)
    else:
        yield f"no entry in {plan.model.project.derivatives}: {added.why_no_derivative}"
    yield from _not_taken(added.draft)
    yield "to do:"
    yield from (f"  {task}" for task in _tasks(plan, added, op))


def _not_taken(draft: Draft) -> Iterator[str]:
    """What the op that was asked for has, and the new one cannot have."""
    op = draft.relative_op
    if op is None or not draft.is_asked:
        return
    if draft.relative_of_rules is None:
        kind = "is composite" if op.is_composite else "has kernels" if draft.is_composite else f"is {op.kind}"
        yield f"nothing was taken from {op.name}, which {kind}: it is another kind of op"
    for key, why in draft.misfits.items():
        yield f"not taken from {op.name}: '{key}: {getattr(op, key)}', for {why}"


def _entry(place: Location, lines: Sequence[Line]) -> Iterator[str]:
    yield f"{place.file}, line {place.line}:"
    for line in lines:
        text = f"  {line.key}: {line.value}"
        yield f"{text:<{_WIDTH}}  # {line.reason}" if line.reason else text


def _tasks(plan: Plan, added: Added, op: Op) -> Iterator[str]:
    yield from _functions(plan, op)
    yield from _parts(plan, added)
    if added.samples_file is not None:
        yield f"{added.samples_file}: the generator of test inputs '{op.samples}'"
    formulas = [line.key for line in added.derivative_lines if line.value == TO_WRITE]
    derivative = plan.derivative(added)
    if derivative is not None:
        names = ", ".join(formulas)
        yield f"{derivative.location.file}: the formulas of {names} ({NO_GRADIENT} where there is none)"
    yield from _shape(op)
    yield from _dtypes(added, op)
    yield f"{op.location.file}: check the lines that are guesses"


def _shape(op: Op) -> Iterator[str]:
    """Whether the meta backend knows what the op returns."""
    if op.dispatch and op.shape is None and "Meta" not in op.dispatch:
        yield f"{op.location.file}: 'shape' and 'promotion' for tensors without data (docs/rules.md), or a Meta kernel"


def _dtypes(added: Added, op: Op) -> Iterator[str]:
    """Whether PyTorch has the op, and could not say which dtypes it takes."""
    wanted = added.draft.wanted
    if not wanted.is_of_pytorch or wanted.dtypes is not None:
        return
    why = "is not installed" if wanted.function is None else "refuses every call with made-up arguments"
    yield f"{op.location.file}: 'dtypes', '{op.dtypes}' for now: PyTorch could not be asked, it {why}"


def _parts(plan: Plan, added: Added) -> Iterator[str]:
    """The ops that PyTorch's composite function calls, if they are not listed."""
    missing = [name for name in added.draft.wanted.parts if name not in plan.model.groups]
    if added.draft.is_composite and missing:
        words = ", ".join(missing)
        yield f"PyTorch's function calls {words}: add that first, or give this op kernels and formulas (--no-composite)"


def _functions(plan: Plan, op: Op) -> Iterator[str]:
    """The composite function, or the kernels that are not written."""
    project = plan.model.project
    if op.composite is not None:
        parameters = ", ".join(expected_parameters(op.schema, False))
        yield f"{project.composite_place(op.family)}: def {op.composite}({parameters})"
    for backend, name in (op.dispatch or {}).items():
        if not is_written(plan.model, backend, op):
            parameters = kernel_parameters(plan.model, op)
            yield f"{project.kernel_place(backend, op.family)}: def {name}({parameters})"
