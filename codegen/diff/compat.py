"""PyTorch's rules of schema compatibility: may a new schema stand where an old one was?

``backward`` asks whether calls written for the old schema still work, ``forward`` whether calls written for the new one
work where only the old one is known. Both give the reasons against it; no reason means yes. The rules are those of
PyTorch's own check, its oddities included: a default counts as the value that PyTorch's parser makes of it, ``SymInt``
and ``ScalarType`` are ``int`` to it, and arguments are compared by position even when they are keyword-only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..model import Alias, Argument, BaseType, FunctionSchema, ListType, OptionalType, Return, Type

Cause = Literal[
    "op name",
    "number of returns",
    "number of arguments",
    "number of out arguments",
    "no default",
    "list default",
    "name",
    "list size",
    "alias",
    "keyword-only",
    "type",
    "default",
    "new default",
]
Part = Literal["op", "argument", "return"]
Value: TypeAlias = Argument | Return


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a schema is not compatible: what is wrong with which part.

    ``index`` is the place among the arguments or returns of the new schema, or of the old one if it has no such place.
    """

    cause: Cause
    part: Part = "op"
    index: int = -1
    name: str = ""

    def __str__(self) -> str:
        where = f"{self.part} {self.name or self.index}: " if self.part != "op" else ""
        return f"{where}{_SENTENCES[self.cause]}"


_SENTENCES: dict[Cause, str] = {
    "op name": "the op has another name or overload name",
    "number of returns": "the number of returns differs",
    "number of arguments": "there are fewer arguments",
    "number of out arguments": "the number of arguments from the first out argument on differs",
    "no default": "it is new and has no default",
    "list default": "it is new and its default is a list",
    "name": "its name differs from the one in this place",
    "list size": "the size of the list differs",
    "alias": "the alias annotation differs",
    "keyword-only": "it has become keyword-only",
    "type": "its type does not fit",
    "default": "its default differs",
    "new default": "it has gained a default",
}


def backward(new: FunctionSchema, old: FunctionSchema) -> tuple[Reason, ...]:
    """Why calls written for ``old`` may fail with ``new``."""
    return _whole_schema(new, old) or tuple(_backward(new, old))


def forward(new: FunctionSchema, old: FunctionSchema) -> tuple[Reason, ...]:
    """Why calls written for ``new`` may fail with ``old``."""
    if len(new.arguments) - _first_out(new) != len(old.arguments) - _first_out(old):
        return (*_whole_schema(new, old), Reason("number of out arguments"))
    return _whole_schema(new, old) or tuple(_forward(new, old))


def _whole_schema(new: FunctionSchema, old: FunctionSchema) -> tuple[Reason, ...]:
    if new.full_name != old.full_name:
        return (Reason("op name"),)
    return (Reason("number of returns"),) if len(new.returns) != len(old.returns) else ()


def _backward(new: FunctionSchema, old: FunctionSchema) -> Iterator[Reason]:
    for i, (after, before) in enumerate(zip(new.returns, old.returns)):
        # Returns may only narrow: what the new op gives must do where the old one's result was used.
        yield from _reasons(_differences(before, after, after.type, before.type), "return", i, after.name)
    if len(new.arguments) < len(old.arguments):
        yield Reason("number of arguments")
        return
    for i, argument, was in _inputs(new, old):
        yield from _reasons(_differences(argument, was, was.type, argument.type), "argument", i, argument.name)
    for i in _added_inputs(new, old):
        if new.arguments[i].default is None:
            yield Reason("no default", "argument", i, new.arguments[i].name)
    if len(new.arguments) - _first_out(new) < len(old.arguments) - _first_out(old):
        yield Reason("number of out arguments")
    for i, argument, was in _outs(new, old):
        yield from _reasons(_differences(argument, was, was.type, argument.type), "argument", i, argument.name)


def _forward(new: FunctionSchema, old: FunctionSchema) -> Iterator[Reason]:
    for i, argument, was in _inputs(new, old):
        if i < _first_out(new):
            yield from _reasons(_forward_differences(argument, was), "argument", i, argument.name)
    for i in _added_inputs(new, old):
        argument = new.arguments[i]
        if argument.default is None:
            yield Reason("no default", "argument", i, argument.name)
        elif isinstance(default_value(argument.type, argument.default), list):
            yield Reason("list default", "argument", i, argument.name)
    for i, argument, was in _outs(new, old):
        yield from _reasons(_forward_differences(argument, was), "argument", i, argument.name)


def _reasons(causes: Iterable[Cause], part: Part, index: int, name: str | None) -> Iterator[Reason]:
    return (Reason(cause, part, index, name or "") for cause in causes)


# -------------------- which arguments are compared --------------------

Pair: TypeAlias = tuple[int, Argument, Argument]


def is_out(argument: Argument) -> bool:
    return argument.kwarg_only and argument.is_written


def _first_out(schema: FunctionSchema) -> int:
    outs = (i for i, argument in enumerate(schema.arguments) if is_out(argument))
    return next(outs, len(schema.arguments))


def _inputs(new: FunctionSchema, old: FunctionSchema) -> Iterator[Pair]:
    """The old arguments before the outs, each with the new one in its place."""
    for i, (argument, was) in enumerate(zip(new.arguments, old.arguments[: _first_out(old)])):
        yield i, argument, was


def _added_inputs(new: FunctionSchema, old: FunctionSchema) -> range:
    return range(_first_out(old), _first_out(new))


def _outs(new: FunctionSchema, old: FunctionSchema) -> Iterator[Pair]:
    """The old arguments from the first out on, each with the new one in its place."""
    for i, (argument, was) in enumerate(zip(new.arguments[_first_out(new) :], old.arguments[_first_out(old) :])):
        yield i + _first_out(new), argument, was


# -------------------- one argument or return --------------------


def _differences(new: Value, old: Value, narrow: Type, wide: Type) -> Iterator[Cause]:
    """What keeps ``new`` from standing for ``old``, where ``narrow`` has to be a subtype of ``wide``."""
    if new.name != old.name:
        yield "name"
    if list_size(new.type) != list_size(old.type):
        yield "list size"
    if alias_key(new.alias) != alias_key(old.alias):
        yield "alias"
    if _is_kwarg_only(new) and not _is_kwarg_only(old):
        yield "keyword-only"
    if not is_subtype(narrow, wide):
        yield "type"
    if _default(old) is not None and _default(new) != _default(old):
        yield "default"


def _forward_differences(new: Argument, old: Argument) -> Iterator[Cause]:
    yield from _differences(new, old, new.type, old.type)
    if new.default is not None and old.default is None:
        yield "new default"


def _is_kwarg_only(value: Value) -> bool:
    return isinstance(value, Argument) and value.kwarg_only


def alias_key(alias: Alias | None) -> object:
    """Equal for annotations that mean the same: the order within a set does not matter."""
    if alias is None:
        return None
    before = frozenset(alias.before)
    return before, alias.write, frozenset(alias.after) or before


def list_size(type_: Type) -> int | None:
    """The ``2`` of ``int[2]`` and ``int[2]?``."""
    inner = type_.without_optional
    return inner.size if isinstance(inner, ListType) else None


# -------------------- types --------------------

_SAME_AS: dict[str, str] = {
    "SymInt": "int",
    "ScalarType": "int",
    "Layout": "int",
    "MemoryFormat": "int",
    "DeviceIndex": "int",
    "Dimname": "str",
    "SymBool": "bool",
}


def plain(type_: Type) -> Type:
    """The type as the check sees it: without list sizes, and with the base types that are one to it made one."""
    if isinstance(type_, OptionalType):
        element = plain(type_.element)
        return element if isinstance(element, OptionalType) else OptionalType(element)
    if isinstance(type_, ListType):
        return ListType(plain(type_.element))
    return BaseType(_SAME_AS.get(type_.base, type_.base))


def is_subtype(narrow: Type, wide: Type) -> bool:
    """Whether every value of ``narrow`` is one of ``wide``. Lists have no subtypes but themselves."""
    return _is_subtype(plain(narrow), plain(wide))


def _is_subtype(narrow: Type, wide: Type) -> bool:
    if isinstance(wide, OptionalType):
        return _is_subtype(narrow.without_optional, wide.element)
    return narrow == wide or (wide == BaseType("Scalar") and narrow.spelled() in ("int", "float", "complex"))


# -------------------- defaults --------------------

_SYMBOLS = {"Mean": 1, "contiguous_format": 0, "long": 4}


def default_value(type_: Type, text: str) -> object:
    """What the check compares for a default: a list for a list, else the value with its Python type.

    Two oddities are PyTorch's: under ``?`` one element does not stand for a list of that size, and a whole number
    stays an integer although the type is ``float?``.
    """
    seen = plain(type_)
    if not isinstance(seen, ListType):
        return _element(seen, text)
    if text.startswith("["):
        return [_element(seen.element, item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return [_element(seen.element, text)] * (list_size(type_) or 0)


def _element(type_: Type, text: str) -> object:
    if text in _SYMBOLS:
        return int, _SYMBOLS[text]
    value = ast.literal_eval(text)
    if type_ in (BaseType("float"), BaseType("complex")):
        value = (float if type_ == BaseType("float") else complex)(value)
    return type(value), value


def _default(value: Value) -> object:
    if isinstance(value, Return) or value.default is None:
        return None
    return default_value(value.type, value.default)
