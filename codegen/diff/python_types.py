"""What Python callers may pass where a schema states a type, and whether another type takes all of it as well."""

from __future__ import annotations

from ..model import BaseType, ListType, OptionalType, Type

# Which Python values a base type stands for, where the name alone does not say it.
_VALUES = {"SymInt": "int", "DeviceIndex": "int", "SymBool": "bool"}
_ALSO_TAKES = {
    "float": {"int"},
    "complex": {"int", "float"},
    "Scalar": {"int", "float", "complex", "bool"},
}


def same_values(old: Type, new: Type) -> bool:
    """Whether the base types stand for the same Python values: ``SymInt`` and ``int`` do, ``ScalarType`` does not."""
    return _value(old.base) == _value(new.base)


def takes_as_much(new: Type, old: Type, numbers: bool = False) -> bool:
    """Whether everything that could be passed for ``old`` can be passed for ``new``.

    ``numbers``: a tensor argument of this name also takes a number.
    """
    if isinstance(old, OptionalType):
        return isinstance(new, OptionalType) and takes_as_much(new.element, old.element, numbers)
    if isinstance(new, OptionalType):
        return takes_as_much(new.element, old, numbers)
    if isinstance(old, ListType):
        return isinstance(new, ListType) and _size_fits(new, old) and takes_as_much(new.element, old.element)
    if isinstance(new, ListType):
        return new.size == 1 and isinstance(new.element, BaseType) and _is_number(new) and _takes(new, old)
    return _takes(new, old) or numbers and new.base == "Tensor" and _takes(BaseType("Scalar"), old)


def _size_fits(new: ListType, old: ListType) -> bool:
    """A list with a size also takes a single element, which stands for as many."""
    return old.size in (None, new.size)


def _is_number(type_: Type) -> bool:
    return _value(type_.base) in ("int", "float")


def _takes(new: Type, old: Type) -> bool:
    base, other = _value(new.base), _value(old.base)
    return base == other or other in _ALSO_TAKES.get(base, ())


def _value(base: str) -> str:
    return _VALUES.get(base, base)
