"""The rules that ``deprecated`` and ``versions`` must follow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import Problems, did_you_mean
from ..keys import TORCH
from ..model import FunctionSchema, Location, OldForm, Op
from ..project_file import FILE
from ..read.expressions import called_functions, fits, function_of, parse_expression, used_names
from ..read.op_entries import OpEntry
from ..read.scope import BUILTINS
from ..read.yaml_source import read_text
from ..sources.hand_written import HandWritten

_RELEASE_LINE = re.compile(r"^version\s*=\s*[\"'](\d+(?:\.\d+)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the rules compare with: the release that is being made, and the ops by Python name and by full name."""

    release: str | None
    functions: frozenset[str]
    ops: dict[str, Op]


def check(entries: list[OpEntry], sources: HandWritten, problems: Problems) -> None:
    """Report every broken rule."""
    ops = {op.name: op for entry in entries for op in entry.ops}
    functions = frozenset(op.schema.name for op in ops.values()) | sources.library_ops.keys()
    old = [entry.op for entry in entries if entry.ops and (entry.op.deprecated or entry.op.versions)]
    if not old:
        return
    known = _Known(project_release(sources.project.root, problems), functions, ops)
    for op in old:
        for form in op.deprecated:
            _check_deprecated(op, form, known, problems)
        _check_versions(op, known, problems)
    _report_twice(old, problems)


def project_release(root: Path, problems: Problems) -> str | None:
    """The release that pyproject.toml says this is; None when it says it elsewhere."""
    path = root / FILE
    text = read_text(path, FILE, problems) if path.is_file() else None
    found = _RELEASE_LINE.search(text or "")
    return found[1] if found else None


def order(release: str) -> tuple[int, ...]:
    """Releases in order: 0.10.0 comes behind 0.9."""
    numbers = [int(number) for number in release.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


# -------------------- deprecated --------------------


def _check_deprecated(op: Op, form: OldForm, known: _Known, problems: Problems) -> None:
    if op.hidden:
        message = f"{op.name} has no Python signature, so no call of it can be deprecated"
        problems.add("E040", message, form.schema.location, "list the call with the op that Python callers reach")
    target = form.schema.self_argument
    if target is not None and target.kwarg_only:
        problems.add("E097", "'self' of an old call is keyword-only", target.location, "write it in front of the '*'")
    _check_releases(op, form, known, problems)
    _check_difference(op, form, known, problems)
    _check_expression("replacement", op.schema, form, known, problems)


def _check_releases(op: Op, form: OldForm, known: _Known, problems: Problems) -> None:
    since, removal = form.since, form.removal
    if since is None:
        return  # a required key: that it is missing has been reported
    if since.text == TORCH:
        if removal is not None:
            problems.add("E090", "PyTorch does not say when it removes a call", removal.location, "remove 'removal'")
    elif removal is None:
        hint = "add 'removal': the release that no longer takes the call"
        problems.add("E090", "a deprecated call has no 'removal'", since.location, hint)
    elif order(removal.text) <= order(since.text):
        message = f"the removal in {removal.text} does not come after {since.text}"
        problems.add("E090", message, removal.location, "callers need a release that warns them")
    elif known.release is not None and order(removal.text) <= order(known.release):
        message = f"this is {known.release}, which no longer takes {form.schema.name}({_names(form.schema)})"
        problems.add("E091", message, removal.location, f"remove it from 'deprecated' of {op.name}")


def _names(schema: FunctionSchema) -> str:
    return ", ".join(argument.name for argument in schema.inputs)


def _check_difference(op: Op, form: OldForm, known: _Known, problems: Problems) -> None:
    """A call that both forms take would silently mean the new one."""
    old, new = form.schema, op.schema
    if old.name != new.name:
        if old.name in known.functions:
            hint = "a name is deprecated when no op has it any more"
            problems.add("E092", f"there is an op '{old.name}'", old.location, hint)
    elif not is_told_apart(old, new):
        message = f"a call of {old.name}({_names(old)}) cannot be told from one of ({_names(new)})"
        hint = "old calls have more positional arguments, fewer than are required, or other names"
        problems.add("E092", message, old.location, hint)


def is_told_apart(old: FunctionSchema, new: FunctionSchema) -> bool:
    """Whether no call in the old form means something else in the new one."""
    if overflows(old, new) or len(old.positional) < len(_required(new)):
        return True
    known = {argument.name for argument in new.inputs}
    is_longer = len(old.positional) > len(new.positional) and new.separate_ints is None
    differs = is_longer or any(a.name not in known for a in old.inputs)
    return differs and all(ours.type == theirs.type for ours, theirs in zip(old.positional, new.positional))


def overflows(old: FunctionSchema, new: FunctionSchema) -> bool:
    """Whether every old call has more positional arguments than the new form takes."""
    return new.separate_ints is None and len(_required(old)) > len(new.positional)


def _required(schema: FunctionSchema) -> list[str]:
    return [argument.name for argument in schema.positional if argument.default is None]


# -------------------- versions --------------------


def _check_versions(op: Op, known: _Known, problems: Problems) -> None:
    successors = [form.schema for form in op.versions[1:]] + [op.schema]
    for number, (form, successor) in enumerate(zip(op.versions, successors), 1):
        if form.version not in (0, number):  # 0: it has none, which has been reported
            message = f"version {form.version} of {op.name} where version {number} is expected"
            problems.add("E095", message, form.schema.location, "list the old versions in order, from 1, none left out")
        _check_name(op, form, known, problems)
        _check_expression("upgrade", successor, form, known, problems)


def _check_name(op: Op, form: OldForm, known: _Known, problems: Problems) -> None:
    """An op that had another name must not be taken for the op that has it now."""
    other = known.ops.get(form.schema.full_name)
    if other is not None and other.name != op.name and form.version <= other.version:
        message = f"{other.name} has a version {form.version} of its own"
        problems.add("E096", message, form.schema.location, "saved programs could mean either of the two")


# -------------------- expressions --------------------


def _check_expression(key: str, target: FunctionSchema, form: OldForm, known: _Known, problems: Problems) -> None:
    """The expression is Python over the old arguments, and calls the target as it is."""
    text, location = form.expression.text, form.expression.location
    try:
        tree = parse_expression(text)
    except SyntaxError as error:
        hint = "write a call of the op, its arguments made from those of the old call"
        problems.add("E093", f"the {key} is not an expression: {error.msg}", location, hint)
        return
    arguments = {argument.name for argument in form.schema.inputs}
    functions = known.functions | {target.name}
    calls = list(called_functions(tree))
    for name in used_names(tree):
        _check_known("name", name, arguments, key, location, problems)
    for call in calls:
        _check_known("function", function_of(call), functions, key, location, problems)
    own = [call for call in calls if function_of(call) == target.name]
    if not any(function_of(call) in functions for call in calls):
        problems.add("E094", f"the {key} calls no op", location, f"write a call of {target.name}")
    for call in own:
        if not fits(call, target):
            message = f"the {key} does not give {target.name} the arguments that it takes"
            problems.add("E094", message, location, f"it is {target}")


def _check_known(
    what: str, name: str, names: frozenset[str] | set[str], key: str, location: Location, problems: Problems
) -> None:
    if name not in names and name not in BUILTINS and name not in ("True", "False", "None"):
        own = "the old arguments" if what == "function" else f"the old arguments ({', '.join(sorted(names))})"
        hint = did_you_mean(name, names) or f"names are {own}, ops and Python builtins"
        problems.add("E093", f"unknown {what} '{name}' in the {key}", location, hint)


# -------------------- all entries --------------------


def _report_twice(ops: list[Op], problems: Problems) -> None:
    seen: dict[tuple[object, ...], Location] = {}
    for identity, location in _identities(ops):
        first = seen.setdefault(identity, location)
        if first is not location:
            hint = f"it is already listed on line {first.line}"
            problems.add("E096", f"a second {identity[0]} of {identity[1]}", location, hint)


def _identities(ops: list[Op]) -> Iterator[tuple[tuple[object, ...], Location]]:
    for op in ops:
        for form in op.deprecated:
            types = tuple((argument.type, argument.name) for argument in form.schema.inputs)
            yield ("deprecated call", form.schema.name, types), form.schema.location
        for form in op.versions:
            yield (f"version {form.version}", form.schema.full_name), form.schema.location
