"""torch's errors for arguments that fit no overload of an op.

Nothing here runs before a call has failed. It then goes through the arguments as torch's parser does, which decides the
text: one overload that has room for so many arguments gets an error about the first argument that is wrong, otherwise
all of them are listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch.dispatch.arguments.overload_order import in_torch_order
from mindtorch.dispatch.arguments.overload_texts import no_overload
from mindtorch.dispatch.arguments.types import (
    accepts,
    accepts_element,
    accepts_nothing,
    is_int_in_list,
    is_number,
    test_of,
)
from mindtorch.dispatch.parameters import parameters_of
from mindtorch.dispatch.registry import OpEntry

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Argument

# The names that NumPy has for arguments. Every function of torch takes them.
NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}


def refusal(
    entries: Iterable[OpEntry], args: tuple, kwargs: dict[str, Any], method: bool = False, has_hidden: bool = False
) -> TypeError | None:
    """torch's error for a call, None if it fits one of the overloads.

    `method`: the first argument stood in front of the dot, where it is no part of texts and positions.
    `has_hidden`: there are other overloads, deprecated ones, which torch does not show.
    """
    signatures = _in_order([Signature(entry, method) for entry in entries if not method or _is_method(entry)])
    if method:
        args = args[1:]
    is_only = len(signatures) == 1 and not has_hidden
    for signature in signatures:
        mismatch = signature.mismatch(args, kwargs)
        if mismatch is None:
            return signature.unpacking_error(args, kwargs)
        if mismatch.is_final or is_only:
            return mismatch.error
    count = len(args) + len(kwargs)
    plausible = [each for each in signatures if each.required <= count <= len(each.arguments)]
    mismatch = plausible[0].mismatch(args, kwargs) if len(plausible) == 1 else None
    return mismatch.error if mismatch else no_overload(signatures[0].base, [s.parts for s in signatures], args, kwargs)


def unpacking_overflow(entries: Iterable[OpEntry], args: tuple, kwargs: Mapping[str, Any]) -> Exception | None:
    """torch's error for the first number of a call that is too large for it, whatever it would have led to.

    In the place of arguments that are left out, the call of an op with overloads has `...`.
    """
    if all(type(value) in _WITHOUT_NUMBERS for value in (*args, *kwargs.values())):
        return None
    while args and args[-1] is ...:
        args = args[:-1]
    for entry in entries:
        given = _given_to(entry.schema.arguments, args, kwargs)
        if all(value is ... or test_of(argument)(value) for argument, value in given):
            return next(filter(None, [_overflow(entry.base, argument, value) for argument, value in given]), None)
    return None


_WITHOUT_NUMBERS = frozenset((Tensor, bool, float, str, type(None), type(...)))


def _given_to(arguments: Sequence[Argument], args: tuple, kwargs: Mapping[str, Any]) -> list[tuple[Argument, Any]]:
    """The arguments of an overload with what a call gives for them; what is too much is given to the last of them."""
    positional = [argument for argument in arguments if not argument.keyword_only]
    named = [(argument, kwargs[argument.name]) for argument in arguments if argument.name in kwargs]
    return [*zip(positional + positional[-1:] * len(args), args), *named]


def _overflow(function: str, argument: Argument, value: Any) -> Exception | None:
    if isinstance(value, (list, tuple)):
        if _is_int_list(argument):
            for place, item in enumerate(value):
                if isinstance(item, int) and not _LEAST <= item <= _MOST:
                    return element_overflow(function, argument.name, place)
        return None
    if not isinstance(value, int) or _LEAST <= value <= _MOST:
        return None
    if argument.element in ("int", "SymInt"):
        return errors.unpacking_overflow()
    if value < 0:
        return OverflowError("can't convert negative int to unsigned")
    return OverflowError("int too big to convert") if value > _MOST_UNSIGNED else None


_LEAST, _MOST, _MOST_UNSIGNED = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


def _is_method(entry: OpEntry) -> bool:
    first = entry.schema.arguments[0]
    return first.name == "input" and first.element == "Tensor"


def _in_order(signatures: list[Signature]) -> list[Signature]:
    return [signatures[place] for place in in_torch_order([each.arguments for each in signatures])]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a call doesn't fit an overload. After a final one, torch doesn't try the others."""

    error: TypeError
    is_final: bool = False


class Signature:
    """The parameters of an overload's Python function, as torch knows them."""

    def __init__(self, entry: OpEntry, method: bool) -> None:
        keywords = parameters_of(entry.function).defaults
        arguments = entry.schema.python_arguments("out" in keywords and not method, "requires_grad" in keywords)
        self.base = entry.base
        self.takes_numbers = entry.takes_numbers
        self.arguments = [_as_torch_names_it(argument) for argument in arguments[method:]]
        self.positional = [argument for argument in self.arguments if not argument.keyword_only]
        self.required = sum(argument.default is None for argument in self.arguments)

    @property
    def parts(self) -> list[str]:
        """The arguments as they are printed."""
        parts = [str(argument) for argument in self.arguments]
        if len(self.positional) < len(parts):
            parts.insert(len(self.positional), "*")
        return parts

    def mismatch(self, args: tuple, kwargs: dict[str, Any]) -> Mismatch | None:
        """What is wrong with the first argument that doesn't fit."""
        if self._is_variadic(args):
            args = (args,)
        if len(args) > len(self.positional):
            return Mismatch(self._too_many(len(args)))
        used = 0
        for place, argument in enumerate(self.arguments):
            name = None if place < len(args) else keyword_of(argument.name, kwargs)
            used += name is not None
            if place < len(args):
                mismatch = self._wrong(argument, args[place], place)
            elif name is not None:
                mismatch = self._wrong(argument, kwargs[name], place, by_keyword=True)
            else:
                mismatch = Mismatch(self._missing(place, kwargs)) if argument.default is None else None
            if mismatch is not None:
                return mismatch
        return Mismatch(self._unknown(args, kwargs)) if used < len(kwargs) else None

    def _is_variadic(self, args: tuple) -> bool:
        """Whether the arguments are the ints of one list, as in `x.view(2, 3)`."""
        return len(self.positional) == 1 and _is_int_list(self.positional[0]) and bool(args) and is_int_in_list(args[0])

    def _too_many(self, count: int) -> TypeError:
        most = len(self.positional)
        least = sum(argument.default is None for argument in self.positional)
        taken = f"from {least} to {most} positional arguments" if least != most else _counted(most)
        return TypeError(f"{self.base}() takes {taken} but {count} {'was' if count == 1 else 'were'} given")

    def _missing(self, place: int, kwargs: dict[str, Any]) -> TypeError:
        later = self.arguments[place:]
        return missing_argument(self.base, *(a.name for a in later if a.default is None and a.name not in kwargs))

    def _unknown(self, args: tuple, kwargs: dict[str, Any]) -> TypeError:
        """About the first keyword that names no argument, or one that was given by position."""
        places = {argument.name: place for place, argument in enumerate(self.arguments)}
        by_position = {name for name, place in places.items() if place < len(args)}
        name = next(name for name in kwargs if name not in places or name in by_position)
        if name in places:
            return TypeError(f"{self.base}() got multiple values for argument '{name}'")
        return TypeError(f"{self.base}() got an unexpected keyword argument '{name}'")

    def _wrong(self, argument: Argument, value: Any, place: int, by_keyword: bool = False) -> Mismatch | None:
        if self._fits(argument, value):
            return None
        if argument.is_list and isinstance(value, (list, tuple)):
            if argument.element == "Tensor":
                return Mismatch(wrong_tensor_element(value, place), is_final=True)
            if _is_int_list(argument) and not by_keyword:
                return Mismatch(first_element_error(self.base, argument.name, place + 1, value[0]))
        position = None if by_keyword else place + 1
        return Mismatch(errors.argument_type(self.base, argument.name, position, argument.shown_type, value))

    def _fits(self, argument: Argument, value: Any) -> bool:
        """As torch tests it: of the elements of a list of ints only the first is looked at."""
        if value is None:
            return accepts_nothing(argument)
        if isinstance(value, (list, tuple)) and _is_int_list(argument):
            return not value or is_int_in_list(value[0])
        if self.takes_numbers and argument.element == "Tensor" and argument.name != "out":
            return isinstance(value, Tensor) or is_number(value)
        return accepts(argument, value)

    def unpacking_error(self, args: tuple, kwargs: dict[str, Any]) -> TypeError | None:
        """The error about a later element of a list of ints."""
        if self._is_variadic(args):
            args = (args,)
        given = {argument.name: value for argument, value in zip(self.positional, args)} | kwargs
        for argument in self.arguments:
            values = given.get(argument.name)
            if _is_int_list(argument) and isinstance(values, (list, tuple)):
                for place, item in enumerate(values):
                    if not isinstance(item, bool) and not accepts_element(argument, item):
                        return element_error(self.base, argument.name, place, item)
        return None


def keyword_of(name: str, kwargs: Mapping[str, Any]) -> str | None:
    """The keyword that gives an argument: its name, or the one that NumPy has for it."""
    return next((each for each in (name, *NUMPY_NAMES.get(name, ())) if each in kwargs), None)


def _as_torch_names_it(argument: Argument) -> Argument:
    """Only tensors are called `input`; other arguments keep the `self` of the schema."""
    return replace(argument, name="self") if argument.name == "input" and argument.type != "Tensor" else argument


def _counted(number: int) -> str:
    return f"{number} positional argument{'' if number == 1 else 's'}"


def _is_int_list(argument: Argument) -> bool:
    return argument.is_list and argument.element in ("int", "SymInt")


# -------------------- texts --------------------


def missing_argument(function: str, *names: str) -> TypeError:
    quoted = ", ".join(f'"{name}"' for name in names)
    plural = "s" if len(names) == 1 else ""  # sic
    return TypeError(f"{function}() missing {len(names)} required positional argument{plural}: {quoted}")


def wrong_tensor_element(values: Iterable[Any], place: int) -> TypeError:
    """A list of tensors with something else in it."""
    number, item = next((number, item) for number, item in enumerate(values) if not isinstance(item, Tensor))
    return TypeError(f"expected Tensor as element {number} in argument {place}, but got {errors.type_name(item)}")


def first_element_error(function: str, name: str, position: int | None, item: Any) -> TypeError:
    """A list of ints that doesn't begin with an int."""
    where = f" (position {position})" if position else ""
    return TypeError(
        f"{function}(): argument '{name}'{where} must be tuple of ints, "
        f"but found element of type {errors.type_name(item)} at pos 0"
    )


def element_error(function: str, name: str, place: int, item: Any) -> TypeError:
    """A list of ints that begins with an int and goes on with something else."""
    return _cannot_unpack(function, name, place, f"type must be tuple of ints,but got {errors.type_name(item)}")


def element_overflow(function: str, name: str, place: int) -> TypeError:
    """A list of ints with one that is too large."""
    return _cannot_unpack(function, name, place, errors.UNPACKING_OVERFLOW)


def _cannot_unpack(function: str, name: str, place: int, why: str) -> TypeError:
    return TypeError(
        f"{function}(): argument '{name}' failed to unpack the object at pos {place + 1} with error \"{why}\""
    )
