"""The part of generated/registry/<family>.py about the past: deprecated calls and old versions, with what they mean."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..keys import TORCH
from ..model import FunctionSchema, Model, OldForm, Op
from ..read.expressions import called_functions, function_of, parse_expression, renamed
from ..render import literal
from .names import comma_separated, function_name, op_reference, registered_name, root_of, visible_overloads
from .old_calls import old_forms, old_names
from .shown_calls import shown_new_call, shown_old_call
from .signatures import parameter_of

# The names that the rows use, and where they come from.
IMPORTS = {
    "OldCall": "mindtorch.dispatch.arguments.deprecation",
    "OldForm": "mindtorch.dispatch.schema.old_forms",
    "contiguous_format": "mindtorch._core.memory_format",
    "int64": "mindtorch._core.dtype",
    "ops": "mindtorch.dispatch",
}
# What a meaning calls the op that it is given.
_OP = "call"


@dataclass(frozen=True, slots=True)
class OldCallRow:
    """The deprecated forms of calls of one function, as Python source."""

    function: str
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VersionsRow:
    """The old versions of one op by number, as Python source."""

    op: str
    current: int
    forms: tuple[tuple[int, str], ...]


def old_call_rows(model: Model, family: str) -> list[OldCallRow]:
    """The functions of a family that have deprecated calls."""
    names = dict.fromkeys(op.schema.name for op in model.families[family] if op.deprecated and op.kind != "out")
    pairs = {name: old_forms(model, name) for name in names}
    for old in old_names(model, family):
        pairs[old.name] = list(old.pairs)
    return [
        OldCallRow(f"functions.{name}", tuple(_old_call(model, op, form) for op, form in found))
        for name, found in pairs.items()
        if found
    ]


def version_rows(model: Model, family: str) -> list[VersionsRow]:
    """The ops of a family that have been something else."""
    return [
        VersionsRow(
            registered_name(model, op),
            op.version,
            tuple((form.version, _old_version(model, op, form)) for form in op.versions),
        )
        for op in model.families[family]
        if op.versions
    ]


def _old_call(model: Model, op: Op, form: OldForm) -> str:
    public = op.schema.name if visible_overloads(model, op.schema.name) else function_name(model, op)
    meaning = _meaning(model, form, root_of(model, op).schema.name)
    words = [_schema(model, form.schema), meaning, f"functions.{public}"]
    if form.since is not None and form.removal is not None and form.since.text != TORCH:
        words += [f'"{form.since.text}"', f'"{form.removal.text}"']
        words += [literal(shown_old_call(model, op, form)), literal(shown_new_call(model, op, form))]
    as_method = _self_first(form.schema)
    if str(as_method) != str(form.schema):
        words.append(f"as_method={_schema(model, as_method)}")
    return f"OldCall({comma_separated(words)})"


def _old_version(model: Model, op: Op, form: OldForm) -> str:
    """The call of the next version, whose name is that of the functional op also where a variant has the version."""
    root = root_of(model, op)
    following = [other.schema.name for other in root.versions[form.version :]]
    return f"OldForm({_schema(model, form.schema)}, {_meaning(model, form, [*following, root.schema.name][0])})"


def _schema(model: Model, schema: FunctionSchema) -> str:
    return literal(model.project.registered_name(str(schema)))


def _self_first(schema: FunctionSchema) -> FunctionSchema:
    """The schema of the method, whose first argument stands in front of the dot."""
    own = schema.self_argument
    if own is None:
        return schema
    others = tuple(argument for argument in schema.arguments if argument is not own)
    return replace(schema, arguments=(own, *others))


def _meaning(model: Model, form: OldForm, op_name: str) -> str:
    """A function of the op and the old arguments that makes the new call."""
    tree = parse_expression(form.expression.text)
    names = {argument.name: argument.python_name for argument in form.schema.inputs}
    known = {op.schema.name for op in model.ops.values()}
    for name in map(function_of, called_functions(tree)):
        if name == op_name:
            names[name] = _OP
        elif name in known or not model.project.is_library:
            names[name] = op_reference(model, name)
    parameters = [str(parameter_of(argument)) for argument in form.schema.inputs]
    return f"lambda {comma_separated([_OP, *parameters])}: {renamed(form.expression.text, names)}"
