"""Schema strings at run time: what traces, `_schema` and argument errors need to know about an op.

Schemas are parsed on demand, never when a program starts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from mindtorch._support.op_names import ATEN, qualified
from mindtorch.dispatch.schema.syntax import parse_declaration

_SCHEMA = re.compile(
    r"(?:(?P<namespace>\w+)::)?(?P<base>\w+)(?:\.(?P<overload>\w+))?\((?P<arguments>.*)\) -> (?P<returns>.*)", re.DOTALL
)
_ARGUMENT = re.compile(r"(?P<type>.+?) (?P<name>\w+)(?:=(?P<default>.*))?", re.DOTALL)
_ALIAS = re.compile(r"\(\w+!?(?: -> [*\w|]+)?\)")

# How torch's error texts name the types of schemas.
_SHOWN_TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "ScalarType": "torch.dtype",
    "Layout": "torch.layout",
    "Device": "torch.device",
    "MemoryFormat": "torch.memory_format",
    "Generator": "torch.Generator",
    "SymInt": "int",
    "Dimname": "name",
}
_SHOWN_LISTS = {"Tensor": "tuple of Tensors", "SymInt": "tuple of ints", "int": "tuple of ints"}
_SHOWN_DEFAULTS = {"contiguous_format": "torch.contiguous_format", "Mean": "at::Reduction::Mean", "[]": "()"}
_TO_C = str.maketrans("[]'", '{}"')

# The options of factories, for which torch's Python functions have defaults of their own.
_OPTIONS = {"dtype": "None", "layout": "None", "device": "None", "pin_memory": "False"}


_DIMS = frozenset(("dim", "dims", "dim0", "dim1", "dim2", "dimension"))


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a schema. `name` is the Python name: `self` is `input`."""

    type: str
    name: str
    default: str | None
    keyword_only: bool
    written: bool

    @property
    def element(self) -> str:
        """The type without `?`, list marks and alias annotations."""
        return self.type.partition("[")[0].partition("?")[0]

    @property
    def is_list(self) -> bool:
        return "[" in self.type

    @property
    def is_sized(self) -> bool:
        """Whether this is a list such as `int[2]`, for which one value may stand."""
        return self.is_list and not self.type.rstrip("?").endswith("[]")

    @property
    def is_dim(self) -> bool:
        """Whether this names one dimension of an input, or several."""
        return self.name in _DIMS

    @property
    def optional(self) -> bool:
        return self.type.endswith("?")

    @property
    def shown_type(self) -> str:
        """The type as torch's error texts write it."""
        if self.is_list:
            return _SHOWN_LISTS.get(self.element, f"tuple of {self.element}s")
        return _SHOWN_TYPES.get(self.element, self.element)

    def __str__(self) -> str:
        if self.default is None:
            return f"{self.shown_type} {self.name}"
        default = _SHOWN_DEFAULTS.get(self.default, self.default.translate(_TO_C))
        return f"{self.shown_type} {self.name} = {default}"


_REQUIRES_GRAD = Argument("bool", "requires_grad", "False", True, False)


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """A parsed schema string. `str` gives it back, with the namespace, as torch's `_schema` prints it."""

    text: str
    namespace: str
    base: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.namespace}::{self.base}"

    @property
    def overload_name(self) -> str:
        return self.overload

    @property
    def is_mutable(self) -> bool:
        return any(argument.written for argument in self.arguments)

    @property
    def argument_names(self) -> set[str]:
        return {argument.name for argument in self.arguments}

    @property
    def out_names(self) -> list[str]:
        return [argument.name for argument in self.arguments if argument.keyword_only and argument.written]

    @property
    def is_out(self) -> bool:
        return bool(self.out_names)

    def is_given_outs(self, kwargs: Mapping[str, Any]) -> bool:
        """Whether a call gives something to write the results to."""
        return not kwargs.keys().isdisjoint(self.out_names)

    @property
    def full_name(self) -> str:
        return f"{self.base}.{self.overload}" if self.overload else self.base

    def renamed(self, names: Mapping[str, str]) -> "Schema":
        """The schema with arguments called as in Python."""
        arguments = [replace(each, name=names.get(each.name, each.name)) for each in self.arguments]
        return replace(self, arguments=tuple(arguments))

    @property
    def out_argument(self) -> Argument:
        """The `out=` of the Python function, which stands for the out variant too."""
        return Argument("Tensor[]" if len(self.returns) > 1 else "Tensor", "out", "None", True, True)

    def python_arguments(self, takes_out: bool, takes_requires_grad: bool = False) -> list[Argument]:
        """The arguments of torch's Python function, in its order: `out=` and the options of factories come last."""
        names = [argument.name for argument in self.arguments if argument.keyword_only]
        options = [name for name in names if name in _OPTIONS and "pin_memory" in names]
        arguments = [argument for argument in self.arguments if argument.name not in options]
        if takes_out:
            arguments.append(self.out_argument)
        arguments += [
            replace(argument, default=_OPTIONS[argument.name])
            for argument in self.arguments
            if argument.name in options
        ]
        if takes_requires_grad:
            arguments.append(_REQUIRES_GRAD)
        return arguments

    def __str__(self) -> str:
        """As torch prints it: `Mean` is 1. What has its namespace already was printed when it was defined."""
        name = self.text.partition("(")[0]
        return self.text if "::" in name else str(parse_declaration(qualified(self.text)))

    __repr__ = __str__


@cache
def parse_schema(text: str) -> Schema:
    """The schema of a string that the generator has already checked."""
    found = _SCHEMA.fullmatch(text)
    if found is None:
        raise ValueError(f"not a schema: {text!r}")
    returns = found["returns"]
    inner = returns[1:-1] if returns.startswith("(") and returns.endswith(")") else returns
    return Schema(
        text=text,
        namespace=found["namespace"] or ATEN,
        base=found["base"],
        overload=found["overload"] or "",
        arguments=_parse_arguments(found["arguments"]),
        returns=tuple(_split(inner)),
    )


def _parse_arguments(text: str) -> tuple[Argument, ...]:
    arguments = []
    keyword_only = False
    for part in _split(text):
        if part == "*":
            keyword_only = True
            continue
        found = _ARGUMENT.fullmatch(part)
        if found is None:
            raise ValueError(f"not an argument: {part!r}")
        arguments.append(
            Argument(
                type=_ALIAS.sub("", found["type"]),
                name="input" if found["name"] == "self" else found["name"],
                default=found["default"],
                keyword_only=keyword_only,
                written="!" in found["type"],
            )
        )
    return tuple(arguments)


def _split(text: str) -> list[str]:
    """The parts between the commas that are outside of brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts
