"""Schemas of ops: arguments, results, and the whole. ``str(schema)`` is the text exactly as it was read."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from typing import Literal

from .source import Location
from .types import Alias, ListType, Type

Kind = Literal["functional", "inplace", "out", "mutable"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a schema. ``default`` is its source text, None when the argument is required.

    ``renamed``: what Python calls it, where PyTorch's Python does not call it as its schema does.
    """

    name: str
    type: Type
    location: Location
    default: str | None = None
    alias: Alias | None = None
    kwarg_only: bool = False
    renamed: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        text = f"{self.type.spelled(self.alias)} {self.name}"
        return text if self.default is None else f"{text}={self.default}"

    @property
    def python_name(self) -> str:
        """The name in generated Python: ``self`` is ``input``, as in torch; keywords get an underscore."""
        if self.renamed is not None:
            return self.renamed
        if self.name == "self":
            return "input"
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name

    @property
    def is_written(self) -> bool:
        return self.alias is not None and self.alias.write


@dataclass(frozen=True, slots=True)
class Return:
    """One result of a schema; ``name`` is None when the schema gives none."""

    type: Type
    name: str | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        text = self.type.spelled(self.alias)
        return text if self.name is None else f"{text} {self.name}"


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """``base[_].overload(arguments) -> returns``. ``tuple_return`` tells ``-> (Tensor a)`` from ``-> Tensor a``."""

    base: str
    inplace: bool
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]
    location: Location
    tuple_return: bool = False

    @property
    def name(self) -> str:
        """The name without the overload: ``mul_``."""
        return f"{self.base}_" if self.inplace else self.base

    @property
    def full_name(self) -> str:
        """The name that identifies an op: ``mul_.Tensor``."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def __str__(self) -> str:
        returns = ", ".join(str(result) for result in self.returns)
        if self.tuple_return or len(self.returns) != 1:
            returns = f"({returns})"
        return f"{self.full_name}({self._argument_text()}) -> {returns}"

    def _argument_text(self) -> str:
        words = [str(argument) for argument in self.arguments]
        first = next((i for i, argument in enumerate(self.arguments) if argument.kwarg_only), None)
        if first is not None:
            words.insert(first, "*")
        return ", ".join(words)

    @property
    def positional(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if not argument.kwarg_only)

    @property
    def kwarg_only(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.kwarg_only)

    @property
    def separate_ints(self) -> Argument | None:
        """The list argument that a method takes as separate ints, too, ``x.view(2, 3)``, or a factory, ``zeros(2, 3)``.

        As in torch, that is the only positional argument besides ``self``, and a list of any size.
        """
        others = [argument for argument in self.positional if argument.name != "self"]
        kind = others[0].type if len(others) == 1 else None
        is_ints = isinstance(kind, ListType) and kind.base in ("int", "SymInt") and kind.size is None
        return others[0] if is_ints else None

    @property
    def self_argument(self) -> Argument | None:
        return self.argument("self")

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        """What an ``out=`` variant writes to: keyword-only arguments that are written."""
        return tuple(argument for argument in self.arguments if argument.kwarg_only and argument.is_written)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Every argument but the ``out`` ones."""
        return tuple(argument for argument in self.arguments if not (argument.kwarg_only and argument.is_written))

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        """The inputs built on Tensor, lists and optional ones too."""
        return tuple(argument for argument in self.inputs if argument.type.holds_tensors)

    @property
    def written_arguments(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.is_written)

    @property
    def changed_inputs(self) -> tuple[Argument, ...]:
        """The inputs that a call changes besides what it is called for: all that it writes but ``out`` and the ``self``
        of ``name_``."""
        return tuple(a for a in self.inputs if a.is_written and not (self.inplace and a.name == "self"))

    def argument(self, name: str) -> Argument | None:
        return next((argument for argument in self.arguments if argument.name == name), None)

    @property
    def result_names(self) -> tuple[str, ...]:
        """What formulas call the outputs: their names, ``result`` for a single one, ``result0`` ... otherwise."""
        if len(self.returns) == 1:
            return (self.returns[0].name or "result",)
        return tuple(result.name or f"result{i}" for i, result in enumerate(self.returns))

    @property
    def kind(self) -> Kind:
        if self.out_arguments:
            return "out"
        if self.inplace:
            return "inplace"
        return "mutable" if self.written_arguments else "functional"
