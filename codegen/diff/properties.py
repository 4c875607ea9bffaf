"""What changed about an op besides its schema, its callers and its derivatives: the other keys of its entry."""

from __future__ import annotations

from collections.abc import Iterator

from ..emit.kernel_texts import is_written
from ..model import Model, Op
from .derivatives import same_expression
from .promotions import other_results
from .report import Finding
from .subject import Subject

_NUMBERS = "uint8 int8 int16 int32 int64"
_HALF, _FLOAT, _COMPLEX = "float16 bfloat16", "float32 float64", "complex64 complex128"
# The dtypes that the words of the key `dtypes` stand for.
DTYPES = {
    "all": f"bool {_NUMBERS} {_HALF} {_FLOAT} {_COMPLEX}",
    "no_bool": f"{_NUMBERS} {_HALF} {_FLOAT} {_COMPLEX}",
    "real": f"bool {_NUMBERS} {_HALF} {_FLOAT}",
    "number_real": f"{_NUMBERS} {_HALF} {_FLOAT}",
    "float": f"{_HALF} {_FLOAT}",
    "float_complex": f"{_HALF} {_FLOAT} {_COMPLEX}",
    "wide_float": _FLOAT,
    "wide_float_complex": f"{_FLOAT} {_COMPLEX}",
    "complex": _COMPLEX,
    "integral": f"bool {_NUMBERS}",
    "number_integral": _NUMBERS,
}


def property_findings(subject: Subject, old_model: Model, new_model: Model) -> Iterator[Finding]:
    old, new = subject.old_op, subject.new_op
    if old is None or new is None or old.derived_from is not None and new.derived_from is not None:
        return  # what a derived variant is like is reported with the op that it is derived from
    yield from _view(subject, old, new)
    yield from _promotion(subject, old, new)
    yield from _dtypes(subject, old, new)
    yield from _shape(subject, old, new)
    yield from _implementation(subject, old, new, old_model, new_model)
    yield from _batch(subject, old, new)
    yield from _autocast(subject, old, new)
    yield from _tags(subject, old, new)
    yield from _texts(subject, old, new)


def _changed(subject: Subject, code: str, message: str, old: str | None, new: str | None, caller: str = "") -> Finding:
    location = subject.new_op.location if subject.new_op else None
    return subject.changed(code, message, old, new, location, caller)


def _view(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    """Becoming a view or ceasing to be one shows in the schema."""
    if old.view is not None and new.view is not None and old.view != new.view:
        caller = f"a write to the result of `{subject.call()}` may raise an error, or no longer does"
        message = f"the result is a view of the kind `{new.view}`, it was `{old.view}`"
        yield _changed(subject, "V003", message, old.view, new.view, caller)


# -------------------- dtypes and shapes --------------------


def _promotion(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    return _rule(subject, "promotion rule", "dtype", ("T001", "T002", "T003"), old.promotion, new.promotion)


def _shape(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    return _rule(subject, "shape rule", "shape", ("H001", "H002", "H003"), old.shape, new.shape)


def _rule(
    subject: Subject, what: str, attribute: str, codes: tuple[str, str, str], old: str | None, new: str | None
) -> Iterator[Finding]:
    """The word of a rule; the codes are those of a rule that is changed, gained and lost."""
    changed, gained, lost = codes
    if old == new:
        return
    if old is None:
        yield _changed(subject, gained, f"the {what} is `{new}`", old, new)
    elif new is None:
        yield _changed(subject, lost, f"the {what} `{old}` is no longer stated", old, new)
    else:
        known = other_results(old, new) if attribute == "dtype" else ""
        caller = f"`{subject.call()}.{attribute}` may be another one{f': {known}' if known else ''}"
        yield _changed(subject, changed, f"the {what} is `{new}`, it was `{old}`", old, new, caller)


def _dtypes(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    before, after = DTYPES[old.dtypes].split(), DTYPES[new.dtypes].split()
    lost, gained = [name for name in before if name not in after], [name for name in after if name not in before]
    if lost:
        caller = f"`{subject.call()}` stops working on tensors of {_listed(lost)}"
        yield _changed(subject, "T010", f"no longer computes on {_listed(lost)}", old.dtypes, new.dtypes, caller)
    if gained:
        yield _changed(subject, "T011", f"also computes on {_listed(gained)}", old.dtypes, new.dtypes)


def _listed(words: list[str]) -> str:
    return ", ".join(words)


# -------------------- kernels and composites --------------------


def _implementation(subject: Subject, old: Op, new: Op, old_model: Model, new_model: Model) -> Iterator[Finding]:
    if old.is_composite and new.is_composite:
        yield from _composite(subject, old, new)
    elif old.is_composite:
        yield _explicit(subject, old, new, new_model)
    elif new.is_composite:
        message = f"the op is now composite, made of other ops by `{_made_by(new)}`"
        yield _changed(subject, "B011", message, _dispatch(old), _made_by(new))
    else:
        yield from _kernels(subject, old, new, old_model, new_model)


def _composite(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    """A decomposition is the op itself, so that any change of it may be seen; a function has its own findings."""
    before, after = old.decomposition, new.decomposition
    if after is not None and before is not None and before.source != after.source:
        if same_expression(before.source, after.source):
            message, code, caller = "the decomposition is written differently", "B016", ""
        else:
            message, code, caller = "the op is made of other ops in another way", "B015", _consequence(subject)
        yield subject.changed(code, message, before.source, after.source, after.location, caller)
    elif (before is None) != (after is None):
        message = f"the op is now made of other ops by `{_made_by(new)}`, it was by `{_made_by(old)}`"
        yield _changed(subject, "B015", message, _made_by(old), _made_by(new), _consequence(subject))
    elif before is None and old.composite != new.composite:
        message = f"the composite function is `{new.composite}`, it was `{old.composite}`"
        yield _changed(subject, "B012", message, old.composite, new.composite)


def _consequence(subject: Subject) -> str:
    return f"values of `{subject.call()}`, its gradients and what graphs save may differ: only tests can tell"


def _made_by(op: Op) -> str | None:
    """The expression or the function that a composite op is."""
    return op.decomposition.source if op.decomposition is not None else op.composite


def _explicit(subject: Subject, old: Op, new: Op, model: Model) -> Finding:
    """A composite op runs wherever its parts do; with kernels of its own it runs on those backends only."""
    bound = [backend for backend in _backends(model) if _is_bound(model, backend, new)]
    works = f"works on {_listed(bound)} only, and not on backends of others" if bound else "stops working"
    caller = f"`{subject.call()}` {works}"
    message = f"the op has kernels of its own, it was composite (`{_made_by(old)}`)"
    return _changed(subject, "B010", message, _made_by(old), _dispatch(new), caller)


def _dispatch(op: Op) -> str:
    return ", ".join(f"{backend}: {name}" for backend, name in (op.dispatch or {}).items())


def _kernels(subject: Subject, old: Op, new: Op, old_model: Model, new_model: Model) -> Iterator[Finding]:
    for backend in dict.fromkeys((*_backends(old_model), *_backends(new_model))):
        names = _kernel_name(old, backend), _kernel_name(new, backend)
        had, has = _is_bound(old_model, backend, old), _is_bound(new_model, backend, new)
        if had and not has:
            yield _gone(subject, backend, names, new_model.project.kernel_place(backend, new.family))
        elif has and not had:
            yield _changed(subject, "B002", f"there is a {backend} kernel", _unwritten(names[0]), names[1])
        elif names[0] != names[1]:
            yield _other_name(subject, backend, names, has)


def _gone(subject: Subject, backend: str, names: tuple[str | None, str | None], file: str) -> Finding:
    message, caller = f"the {backend} kernel is gone", f"`{subject.call()}` on {backend} stops working"
    remedy = f"write `{names[1]}` in {file}" if names[1] else ""
    where = subject.new_op.location if subject.new_op else None
    return subject.changed("B001", message, names[0], _unwritten(names[1]), where, caller, remedy)


def _other_name(subject: Subject, backend: str, names: tuple[str | None, str | None], has: bool) -> Finding:
    if has:
        return _changed(subject, "B003", f"the {backend} kernel is `{names[1]}`, it was `{names[0]}`", *names)
    if names[1] is None:
        return _changed(subject, "B005", f"the {backend} kernel `{names[0]}`, never written, is not planned", *names)
    return _changed(subject, "B004", f"the {backend} kernel `{names[1]}` is planned but not written", *names)


def _batch(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    if old.batch != new.batch:
        rule = f"is `{new.batch}`" if new.batch else "follows from that of the shape"
        yield _changed(subject, "B013", f"the rule for tensors inside vmap {rule}", old.batch, new.batch)


def _autocast(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    for device, before, now in (
        ("", old.autocast, new.autocast),
        (" on an NPU", old.autocast_npu, new.autocast_npu),
    ):
        if before != now:
            rule = f"gives the op {now}" if now else "leaves the op alone"
            yield _changed(subject, "B014", f"autocast{device} {rule}", before, now)


def _unwritten(name: str | None) -> str | None:
    return f"{name} (not written)" if name else None


def _backends(model: Model) -> tuple[str, ...]:
    return tuple(model.project.backends)


def _kernel_name(op: Op, backend: str) -> str | None:
    name = (op.dispatch or {}).get(backend)
    return "a shape rule" if name is None and backend == "Meta" and op.shape else name


def _is_bound(model: Model, backend: str, op: Op) -> bool:
    """Whether there is a function to run: a written kernel or, on the meta backend, a shape rule."""
    has_rule = backend == "Meta" and op.shape is not None and backend not in (op.dispatch or {})
    return has_rule or is_written(model, backend, op)


# -------------------- tags and texts --------------------


def _tags(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    words = _listed(list(old.tags)) or None, _listed(list(new.tags)) or None
    for tag in old.tags:
        if tag not in new.tags:
            caller = "programs exported to core ops can no longer contain it" if tag == "core" else ""
            yield _changed(subject, "G001" if tag == "core" else "G003", f"the tag `{tag}` is lost", *words, caller)
    for tag in new.tags:
        if tag not in old.tags:
            yield _changed(subject, "G002" if tag == "core" else "G004", f"the tag `{tag}` is gained", *words)


def _source(op: Op) -> str | None:
    return op.scalar.source if op.scalar else None


def _words(text: str | None) -> list[str]:
    return (text or "").split()


def _flag(is_set: bool) -> str | None:
    return "true" if is_set else None


def _texts(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    for code, what, before, after in (
        ("B020", "the ACLNN call", old.aclnn, new.aclnn),
        ("B022", "the stated divergence from PyTorch's schema", old.divergence, new.divergence),
        (
            "B023",
            "what the kernel changes besides",
            _listed(list(old.writes)) or None,
            _listed(list(new.writes)) or None,
        ),
        (
            "B024",
            "what may be on another device",
            _listed(list(old.other_devices)) or None,
            _listed(list(new.other_devices)) or None,
        ),
        ("B025", "the scalar expression", _source(old), _source(new)),
        ("B026", "that results may share memory", _flag(old.shares_memory), _flag(new.shares_memory)),
        ("P027", "that PyTorch has no such Python overload", _flag(old.absent_in_torch), _flag(new.absent_in_torch)),
    ):
        if _words(before) != _words(after):
            verb = "added" if before is None else "removed" if after is None else "changed"
            yield _changed(subject, code, f"{what} is {verb}", before, after)
