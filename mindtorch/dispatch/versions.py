"""Old versions of ops: the `versions:` entries of ops.yaml at run time.

A saved program says which version of an op it means. `call_version` runs it: an old version through its upgrades, one
version after the other, until it is a call of the op as it is now.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mindtorch.dispatch.registry import OpEntry, find_op
from mindtorch.dispatch.schema.old_forms import OldForm, python_names

_current: dict[str, int] = {}  # of the ops that have been something else
_old: dict[tuple[str, int], tuple[str, OldForm]] = {}  # by the name and version of then: the op of today, the form


class UnknownVersion(RuntimeError):
    """An op, or a version of one, that this release does not have."""


def register_versions(table: Mapping[str, tuple[int, Mapping[int, OldForm]]]) -> None:
    """Make old versions known: for each op the number of its present one, and the others by number."""
    for op, (current, forms) in table.items():
        _current[op] = current
        for number, form in forms.items():
            _old[_name_of(form), number] = op, form


def _name_of(form: OldForm) -> str:
    return form.schema_text.partition("(")[0]


def current_version(op: str) -> int:
    """The version of an op as it is now: 1 if it has never been something else."""
    return _current.get(op, 1)


def call_version(op: str, version: int, args: tuple = (), kwargs: Mapping[str, Any] | None = None) -> Any:
    """Call an op, such as "sum.dim_IntList", as it was in a version. Keyword arguments have their Python names."""
    entry = find_op(op)
    if entry is not None and version == current_version(op):
        if entry.boxed:
            args, kwargs = by_position(entry, args, dict(kwargs or {}))
        return entry.function(*args, **entry.in_python(kwargs or {}))
    check_version(op, version)
    present, form = _old[op, version]
    given = dict(zip(python_names(form.schema), args)) | dict(kwargs or {})
    return form.call(_next_version(present, version), given)


def by_position(entry: OpEntry, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Arguments in the places that the schema has for them, for functions that know no Python names."""
    names = [argument.name for argument in entry.schema.arguments if not argument.keyword_only]
    values = list(args)
    for name in names[len(args) :]:
        if name not in kwargs:
            break
        values.append(kwargs.pop(name))
    return tuple(values), kwargs


def check_version(op: str, version: int) -> None:
    """Raise UnknownVersion for what `call_version` cannot call."""
    entry = find_op(op)  # which has made the old versions known, too
    if (op, version) not in _old and (entry is None or version != current_version(op)):
        raise _unknown(op, version)


def _next_version(present: str, version: int) -> Callable:
    """What an upgrade calls: the op of today, as it was one version later."""
    forms = {number: form for (_, number), (op, form) in _old.items() if op == present}
    following = forms.get(version + 1)
    name = present if following is None else _name_of(following)

    def call(*args: Any, **kwargs: Any) -> Any:
        return call_version(name, version + 1, args, kwargs)

    return call


def _unknown(op: str, version: int) -> UnknownVersion:
    if find_op(op) is None and all(name != op for name, _ in _old):
        return UnknownVersion(f"there is no op '{op}': it was added by a later release, or has been removed")
    known = sorted({number for name, number in _old if name == op} | ({current_version(op)} if find_op(op) else set()))
    numbers = ", ".join(map(str, known))
    if version > known[-1]:
        return UnknownVersion(
            f"'{op}' has no version {version} yet (known: {numbers}): use a later release of mindtorch"
        )
    return UnknownVersion(f"version {version} of '{op}' can no longer be run (known: {numbers})")
