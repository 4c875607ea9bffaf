"""Calls in a deprecated form: how the functions of ops notice them.

Python binds arguments before a function's first line runs, so a function has to have room for those that only an old
call gives: more positional arguments, and keywords that the op no longer has. What a call in the present form costs is
the truth test of an empty tuple.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..model import FunctionSchema, Model, OldForm, Op
from ..render import tuple_of
from .names import comma_separated, visible_overloads
from .signatures import ABSENT, Parameter, Signature

REST = "more"


@dataclass(frozen=True, slots=True)
class OldCalls:
    """The signature with room for old calls, what is true of one, and what handles it."""

    signature: Signature
    condition: str
    call: str


@dataclass(frozen=True, slots=True)
class OldName:
    """A name that no op has any more, with the ops that replace it and the forms of its calls."""

    name: str
    pairs: tuple[tuple[Op, OldForm], ...]

    @property
    def schemas(self) -> tuple[FunctionSchema, ...]:
        return tuple(form.schema for _, form in self.pairs)

    @property
    def call(self) -> str:
        return f"old_call({self.name}, (), args, kwargs)"

    def is_function_of(self, module: str | None) -> bool:
        return any(op.is_function and op.python_module == module for op, _ in self.pairs)

    @property
    def is_method(self) -> bool:
        return any(op.is_method for op, _ in self.pairs)


def old_forms(model: Model, name: str) -> list[tuple[Op, OldForm]]:
    """The deprecated forms of calls of a name, which an op has or had, each with the op that it means."""
    ops = visible_overloads(model, name) or _callable_ops(model.ops.values())
    return [(op, form) for op in ops for form in op.deprecated if form.schema.name == name]


def _callable_ops(ops: Iterable[Op]) -> Iterator[Op]:
    """The ops without the out= variants, which are called through the others."""
    return (op for op in ops if op.kind != "out")


def old_names(model: Model, family: str) -> list[OldName]:
    """The names that the ops of a family had before."""
    found: dict[str, list[tuple[Op, OldForm]]] = {}
    for op in _callable_ops(model.families[family]):
        for form in op.deprecated:
            if form.schema.name != op.schema.name:
                found.setdefault(form.schema.name, []).append((op, form))
    return [OldName(name, tuple(pairs)) for name, pairs in found.items()]


def old_calls_of(model: Model, name: str, signature: Signature, overloads: Sequence[str]) -> OldCalls | None:
    """What the function of a name needs for its deprecated calls; None when it has none."""
    schemas = [form.schema for _, form in old_forms(model, name)]
    if not schemas:
        return None
    room = any(len(schema.positional) > len(signature.positional) for schema in schemas) and signature.rest is None
    keywords = _foreign_names(schemas, signature)
    absent = [*_left_out(schemas, signature), *_keywords_left_out(schemas, signature)]
    extended = Signature(
        (
            *(replace(each, default=ABSENT) if each.name in absent else each for each in signature.parameters),
            *(Parameter(keyword, ABSENT, True) for keyword in keywords),
        ),
        REST if room else signature.rest,
    )
    tests = [f"{word} is not {ABSENT}" for word in keywords] + [f"{word} is {ABSENT}" for word in absent]
    return OldCalls(extended, " or ".join([REST] * room + tests), old_call(name, overloads, extended))


def old_call(name: str, overloads: Sequence[str], signature: Signature) -> str:
    """What runs a call that the function of a name was given: its overloads and arguments are for the errors."""
    positional = [parameter.name for parameter in signature.positional]
    positional += [f"*{signature.rest}"] if signature.rest else []
    keywords = [p.name for p in signature.parameters if p.kwarg_only and not p.alias_of]
    named = comma_separated(f'"{keyword}": {keyword}' for keyword in keywords)
    return f"old_call({name}, {tuple_of(overloads)}, {tuple_of(positional)}, {{{named}}})"


def _foreign_names(schemas: Sequence[FunctionSchema], signature: Signature) -> list[str]:
    """The names that only old forms have."""
    known = {parameter.name for parameter in signature.parameters}
    names = dict.fromkeys(argument.python_name for schema in schemas for argument in schema.inputs)
    return [name for name in names if name not in known]


def _left_out(schemas: Sequence[FunctionSchema], signature: Signature) -> list[str]:
    """Required arguments that an old call may leave out. Python wants defaults of those behind one with a default."""
    required = [p.name if p.default in (None, ABSENT) else "" for p in signature.positional]
    first = min((place for schema in schemas for place in _places_left_out(schema, required)), default=len(required))
    return [name for name in required[first:] if name]


def _keywords_left_out(schemas: Sequence[FunctionSchema], signature: Signature) -> list[str]:
    """Required keyword-only arguments that an old call may give by position, or not at all."""
    required = [p.name for p in signature.parameters if p.kwarg_only and p.default is None]
    sure = [{a.python_name for a in schema.kwarg_only if a.default is None} for schema in schemas]
    return [name for name in required if any(name not in names for names in sure)]


def _places_left_out(schema: FunctionSchema, required: Sequence[str]) -> Iterator[int]:
    sure = [argument.python_name for argument in schema.positional if argument.default is None]
    if len(sure) > len(required):
        return  # such a call fills every place
    names = {argument.python_name for argument in schema.inputs}
    for place, name in enumerate(required):
        if name and (name not in names or place >= len(sure)):
            yield place
