"""The types of arguments and results, as schemas spell them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alias:
    """The annotation of ``Tensor(a! -> b|c)``: alias sets before and after the call, and whether the call writes."""

    before: tuple[str, ...]
    write: bool = False
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = "|".join(self.before) + ("!" if self.write else "")
        return f"{text} -> {'|'.join(self.after)}" if self.after else text


@dataclass(frozen=True, slots=True)
class Type:
    """A node of the type tree: a base type, or ``element?`` or ``element[size]`` around another node."""

    def spelled(self, alias: Alias | None = None) -> str:
        """The type as a schema writes it, with the alias annotation behind the base type."""
        raise NotImplementedError

    @property
    def base(self) -> str:
        """The name of the innermost type: ``Tensor`` for ``Tensor?[]``."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spelled()

    @property
    def is_optional(self) -> bool:
        return isinstance(self, OptionalType)

    @property
    def is_list(self) -> bool:
        """A list, optional or not."""
        return isinstance(self.without_optional, ListType)

    @property
    def without_optional(self) -> Type:
        return self.element if isinstance(self, OptionalType) else self

    @property
    def holds_tensors(self) -> bool:
        """Any type built on Tensor: ``Tensor Tensor? Tensor[] Tensor?[]``."""
        return self.base == "Tensor"

    @property
    def is_tensor(self) -> bool:
        """``Tensor`` or ``Tensor?``."""
        return self.holds_tensors and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        """``Tensor[]`` or ``Tensor?[]``."""
        return self.holds_tensors and self.is_list


@dataclass(frozen=True, slots=True)
class BaseType(Type):
    """``Tensor``, ``int``, ``ScalarType`` ..."""

    name: str

    def spelled(self, alias: Alias | None = None) -> str:
        return f"{self.name}({alias})" if alias else self.name

    @property
    def base(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class OptionalType(Type):
    """``element?``"""

    element: Type

    def spelled(self, alias: Alias | None = None) -> str:
        return f"{self.element.spelled(alias)}?"

    @property
    def base(self) -> str:
        return self.element.base


@dataclass(frozen=True, slots=True)
class ListType(Type):
    """``element[]`` or ``element[size]``"""

    element: Type
    size: int | None = None

    def spelled(self, alias: Alias | None = None) -> str:
        return f"{self.element.spelled(alias)}[{'' if self.size is None else self.size}]"

    @property
    def base(self) -> str:
        return self.element.base
