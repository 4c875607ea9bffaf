"""The changes of the files that a new op leads to, one function per file."""

from __future__ import annotations

from ..errors import Problems
from ..model import Model, Op
from ..sources.hand_written import read_hand_written
from .by_hand import composite_function, new_composite_file, sample_generator
from .draft import Draft
from .files import Files
from .insertion import Insertion, after_entry, after_heading, appended, at_end
from .op_entry import Line, entry_text, like
from .relatives import entries


def add_op(files: Files, lines: list[Line], draft: Draft, model: Model) -> None:
    """The entry in ops.yaml: below the relative, or at the head of the family, or at the end."""
    places = {op.name: op.location.line for op in entries(model)}
    above = _above(draft, model)
    _insert(files, model.project.ops, entry_text(lines), places, above[-1].name if above else None, draft.family)


def add_derivative(files: Files, lines: list[Line], draft: Draft, model: Model) -> None:
    """The entry in derivatives.yaml, whose entries are in the order of those in ops.yaml."""
    places = {name: derivative.location.line for name, derivative in model.derivatives.items()}
    above = _last_with_derivative(draft, model)
    _insert(files, model.project.derivatives, entry_text(lines), places, above.name if above else None, draft.family)


def _last_with_derivative(draft: Draft, model: Model) -> Op | None:
    """The op that the new one goes below, or the closest above it in the family, that has a derivative."""
    return next((op for op in reversed(_above(draft, model)) if op.name in model.derivatives), None)


def _above(draft: Draft, model: Model) -> list[Op]:
    """The ops of the family down to the relative and the overloads that follow it, its own and those of the new op."""
    relative = draft.relative_op
    if relative is None:
        return []
    members = [op for op in entries(model) if op.family == relative.family]
    end = members.index(relative) + 1
    while end < len(members) and members[end].schema.base in (relative.schema.base, draft.schema.base):
        end += 1
    return members[:end]


def _insert(files: Files, file: str, entry: str, places: dict[str, int], above: str | None, family: str) -> None:
    text = files.read(file) or ""
    files.change(file, _place(text, entry, places, above, family).into(text))


def _place(text: str, entry: str, places: dict[str, int], above: str | None, family: str) -> Insertion:
    if above is not None:
        return after_entry(text, places[above], places.values(), entry)
    return after_heading(text, family, entry) or at_end(text, entry)


def add_samples(files: Files, draft: Draft, model: Model) -> tuple[Line | None, str | None]:
    """The ``samples`` line of the entry, and the file with a generator that is to be written; None when there is none.

    The generator of the relative will do if it makes the same types of arguments.
    """
    rule = read_hand_written(model.project, Problems(unsaved=files.changed)).rules["samples"]
    name, counterpart = draft.function_name, draft.counterpart or draft.asked_relative
    needs_none = (
        draft.is_composite and counterpart is not None and counterpart.is_composite and counterpart.samples is None
    )
    if rule.names is None or needs_none:
        return None, None
    if counterpart is not None and counterpart.samples is not None and _gives_all(counterpart, draft):
        return Line("samples", counterpart.samples, like(counterpart)), None
    if name in rule.names:
        return Line("samples", name, f"{rule.file} has a generator of that name"), None
    text = files.read(rule.file) or ""
    files.change(rule.file, appended(text, sample_generator(name, draft.schema, model.project)))
    return Line("samples", name, f"to be written in {rule.file}"), rule.file


def _gives_all(counterpart: Op, draft: Draft) -> bool:
    """Whether the samples of an op are some of the new one that may vary all its arguments.

    What has fewer arguments leaves the others at their defaults: whatever a formula does with them, it would pass.
    """
    has_all = len(counterpart.schema.inputs) >= len(draft.schema.inputs)
    return has_all and "samples" not in draft.misfits


def add_composite(files: Files, draft: Draft, model: Model) -> None:
    """The composite function, unless there is one of that name."""
    if draft.function_name in model.composites.get(draft.family, {}):
        return
    file = _composite_file(draft, model)
    text = files.read(file) or new_composite_file(draft.family)
    files.change(file, appended(text, composite_function(draft.function_name, draft.schema, file)))


def _composite_file(draft: Draft, model: Model) -> str:
    """The file of the relative's function; that of the family if there is none."""
    relative, place = draft.relative_op, model.project.composite_place(draft.family)
    written = model.composites.get(draft.family, {}).get(relative.composite or "") if relative else None
    if written is not None and relative and relative.family == draft.family:
        return written.file
    return f"{place}{draft.family}.py" if place.endswith("/") else place
