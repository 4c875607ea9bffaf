"""torch's errors for arguments that fit no overload of an op.

Nothing here runs before a call has failed. It then goes through the arguments as torch's parser does, which decides the
text: one overload that has room for so many arguments gets an error about the first argument that is wrong, otherwise
all of them are listed.
"""

from collections.abc import Iterable
from typing import Any

from mindtorch import errors
from mindtorch.dispatch.argument_types import accepts, accepts_element, accepts_nothing, is_int
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.schema import Argument
from mindtorch.tensor import Tensor


def refusal(
    entries: Iterable[OpEntry], args: tuple, kwargs: dict[str, Any], method: bool = False, has_hidden: bool = False
) -> TypeError | None:
    """torch's error for a call, None if it fits one of the overloads.

    `method`: the first argument stood in front of the dot, where it is no part of texts and positions.
    `has_hidden`: there are other overloads, deprecated ones, which torch does not show.
    """
    fitting = (entry for entry in entries if not method or _is_method(entry))
    signatures = sorted((Signature(entry, method) for entry in fitting), key=Signature.order)
    if method:
        args = args[1:]
    for signature in signatures:
        if signature.mismatch(args, kwargs) is None:
            return signature.unpacking_error(args, kwargs)
    count = len(args) + len(kwargs)
    plausible = [each for each in signatures if each.required <= count <= len(each.arguments)]
    if len(plausible) == 1 or (len(signatures) == 1 and not has_hidden):
        return (plausible or signatures)[0].mismatch(args, kwargs)
    return no_overload(signatures, args, kwargs)


def _is_method(entry: OpEntry) -> bool:
    first = entry.schema.arguments[0]
    return first.name == "input" and first.element == "Tensor"


class Signature:
    """The parameters of an overload's Python function, as torch knows them."""

    def __init__(self, entry: OpEntry, method: bool) -> None:
        schema = entry.schema
        keywords = entry.function.__kwdefaults__ or {}
        takes_out = "out" in keywords and not method
        self.base = entry.base
        self.takes_numbers = entry.takes_numbers
        self.skipped = schema.arguments[0] if method else None
        skipped = str(self.skipped)
        self.parts = [
            part for part in schema.shown_arguments(takes_out, "requires_grad" in keywords) if part != skipped
        ]
        self.arguments = [argument for argument in schema.arguments if argument is not self.skipped]
        if takes_out:
            self.arguments.append(schema.out_argument)
        if "requires_grad" in keywords:
            self.arguments.append(Argument("bool", "requires_grad", "False", True, False))
        self.positional = [argument for argument in self.arguments if not argument.keyword_only]
        self.required = sum(argument.default is None for argument in self.arguments)

    def order(self) -> tuple:
        """torch lists short overloads first, then those that take tensors where others take numbers."""
        kinds = [(argument.element, argument.is_list) for argument in self.positional]
        return (
            len(kinds),
            [element == "Scalar" for element, _ in kinds].count(True),
            [element != "Scalar" for element, _ in kinds],
            [(element == "str", is_list) for element, is_list in kinds],
        )

    def mismatch(self, args: tuple, kwargs: dict[str, Any]) -> TypeError | None:
        """The error about the first argument that doesn't fit."""
        if len(args) > len(self.positional) and not self._is_variadic(args):
            return self._too_many(len(args))
        if self._is_variadic(args):
            args = (args,)
        for place, argument in enumerate(self.arguments):
            if place < len(args):
                error = self._wrong(argument, args[place], place)
            elif argument.name in kwargs:
                error = self._wrong(argument, kwargs[argument.name], place, by_keyword=True)
            else:
                error = self._missing(place, kwargs) if argument.default is None else None
            if error is not None:
                return error
        return self._unknown(kwargs)

    def _is_variadic(self, args: tuple) -> bool:
        """Whether the arguments are the ints of one list, as in `x.view(2, 3)`."""
        return len(self.positional) == 1 and _is_int_list(self.positional[0]) and bool(args) and is_int(args[0])

    def _too_many(self, count: int) -> TypeError:
        most = len(self.positional)
        least = sum(argument.default is None for argument in self.positional)
        taken = f"from {least} to {most} positional arguments" if least != most else _counted(most)
        return TypeError(f"{self.base}() takes {taken} but {count} {'was' if count == 1 else 'were'} given")

    def _missing(self, place: int, kwargs: dict[str, Any]) -> TypeError:
        later = self.arguments[place:]
        return missing_argument(self.base, *(a.name for a in later if a.default is None and a.name not in kwargs))

    def _unknown(self, kwargs: dict[str, Any]) -> TypeError | None:
        known = {argument.name for argument in self.arguments}
        unknown = next((name for name in kwargs if name not in known), None)
        if unknown is None:
            return None
        return TypeError(f"{self.base}() got an unexpected keyword argument '{unknown}'")

    def _wrong(self, argument: Argument, value: Any, place: int, by_keyword: bool = False) -> TypeError | None:
        if self._fits(argument, value):
            return None
        if argument.is_list and isinstance(value, (list, tuple)):
            if argument.element == "Tensor":
                return wrong_tensor_element(value, place + (self.skipped is not None))
            if not by_keyword:
                return first_element_error(self.base, argument.name, place + 1, value[0])
        position = None if by_keyword else place + 1
        return errors.argument_type(self.base, argument.name, position, argument.shown_type, value)

    def _fits(self, argument: Argument, value: Any) -> bool:
        """As torch tests it: of the elements of a list of ints only the first is looked at."""
        if value is None:
            return accepts_nothing(argument)
        if isinstance(value, (list, tuple)) and _is_int_list(argument):
            return not value or is_int(value[0])
        if self.takes_numbers and argument.element == "Tensor" and argument.name != "out":
            return isinstance(value, (Tensor, int, float, complex))
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

    def explain(self, args: tuple, kwargs: dict[str, Any]) -> str:
        """A line of the list, and why it wasn't taken. torch compares with the printed parts, `*` among them."""
        line = f"({', '.join(self.parts)})\n"
        if max(len(self.parts), 1) != len(args) + len(kwargs):
            return line
        names = {argument.name for argument in self.arguments}
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            return f"{line}      didn't match because some of the keywords were incorrect: {', '.join(unknown)}\n"
        if kwargs:
            return line
        return f"{line}      didn't match because some of the arguments have invalid types: {self._compared(args)}\n"

    def _compared(self, args: tuple) -> str:
        return f"({', '.join(_marked(part, value) for part, value in zip(self.parts or [''], args))})"

    def explain_alone(self, args: tuple, kwargs: dict[str, Any]) -> str:
        """What was given and what is expected. torch looks for keywords among the last names only."""
        names = [argument.name for argument in self.arguments]
        unknown = [name for name in reversed(kwargs) if name not in names[max(len(names) - len(kwargs), 0) :]]
        if unknown:
            got = f"unrecognized keyword arguments: {', '.join(unknown)}"
        else:
            got = self._compared(args) if len(args) == len(self.parts) else _given(args, kwargs)
        return f"got {got}, but expected ({', '.join(self.parts)})"


def _counted(number: int) -> str:
    return f"{number} positional argument{'' if number == 1 else 's'}"


def _is_int_list(argument: Argument) -> bool:
    return argument.is_list and argument.element in ("int", "SymInt")


# -------------------- texts --------------------


def no_overload(signatures: list[Signature], args: tuple, kwargs: dict[str, Any]) -> TypeError:
    """torch's list of what would have been accepted."""
    if len(signatures) == 1:
        shown = signatures[0].explain_alone(args, kwargs)
    else:
        expected = "".join(f" * {signature.explain(args, kwargs)}" for signature in signatures)
        shown = f"got {_given(args, kwargs)}, but expected one of:\n{expected}"
    return TypeError(f"{signatures[0].base}() received an invalid combination of arguments - {shown}")


def _given(args: tuple, kwargs: dict[str, Any]) -> str:
    got = [errors.type_name(value) for value in args]
    got += [f"{name}={errors.type_name(value)}" for name, value in kwargs.items()]
    return f"({', '.join(got)}{', ' if kwargs and not args else ''})"


def missing_argument(function: str, *names: str) -> TypeError:
    quoted = ", ".join(f'"{name}"' for name in names)
    return TypeError(f"{function}() missing {len(names)} required positional arguments: {quoted}")


def wrong_tensor_element(values: Iterable[Any], argument_number: int) -> TypeError:
    """A list of tensors with something else in it."""
    place, item = next((place, item) for place, item in enumerate(values) if not isinstance(item, Tensor))
    shown = errors.type_name(item)
    return TypeError(f"expected Tensor as element {place} in argument {argument_number}, but got {shown}")


def first_element_error(function: str, name: str, position: int | None, item: Any) -> TypeError:
    """A list of ints that doesn't begin with an int."""
    where = f" (position {position})" if position else ""
    return TypeError(
        f"{function}(): argument '{name}'{where} must be tuple of ints, "
        f"but found element of type {errors.type_name(item)} at pos 0"
    )


def element_error(function: str, name: str, place: int, item: Any) -> TypeError:
    """A list of ints that begins with an int and goes on with something else."""
    return TypeError(
        f"{function}(): argument '{name}' failed to unpack the object at pos {place + 1} with error "
        f'"type must be tuple of ints,but got {errors.type_name(item)}"'
    )


_SHOWN_ACCEPTS = {
    "Tensor ": lambda value: isinstance(value, Tensor),
    "int ": is_int,
    "bool ": lambda value: isinstance(value, bool),
    "float ": lambda value: isinstance(value, (float, int)) and not isinstance(value, bool),
    "tuple of ints ": lambda value: isinstance(value, (tuple, list)) and all(map(is_int, value)),
}


def _marked(part: str, value: Any) -> str:
    name = errors.type_name(value)
    fits = any(part.startswith(start) and fits(value) for start, fits in _SHOWN_ACCEPTS.items())
    return name if fits else f"!{name}!"
