"""The arguments of a call of a generated function as the program gave them: by position or by keyword, and no others.

The function itself sees every parameter with a value. What the program wrote is in the instruction that made the call;
where that can't be read, arguments that have their defaults count as left out, and those that follow as keywords.
"""

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import WrappedNumber
from mindtorch.dispatch.arguments.call_sites import WrittenCall, call_that_fails
from mindtorch.dispatch.arguments.errors import NUMPY_NAMES
from mindtorch.dispatch.methods import is_method
from mindtorch.dispatch.parameters import SPELLINGS, parameters_of

Given = tuple[tuple, dict[str, Any]]


def as_given(function: Callable, args: tuple, kwargs: dict) -> Given:
    """The positional and the keyword arguments that the program wrote.

    `args` and `kwargs` are what `function` passes on, in the order of its parameters. `...` marks arguments that a
    resolver has no default for.
    """
    names = parameters_of(function).names
    args = _as_numbers(_joined(args[: len(names)], args[len(names) :]) if names else args)
    written, named, left_out = call_that_fails()
    if written is not None:
        named = {name: value for name, value in named.items() if name not in SPELLINGS}
        values = named | dict(zip(names, args)) | kwargs
        is_bound = is_method(function) and not (args and written.first is args[0])
        for count in (written.positional + 1, written.positional) if is_bound else (written.positional,):
            given = _as_written(function, args, values, WrittenCall(count, written.keywords), left_out)
            if given is not None:
                return given
    return without_defaults(function, args, kwargs)


def _joined(args: tuple, more: tuple) -> tuple:
    """The arguments and those that are the rest of a list of ints, which may be in its tuple already."""
    last = args[-1] if args else None
    is_in_tuple = isinstance(last, tuple) and bool(more) and [*map(id, last[1:])] == [*map(id, more)]
    return (*args[:-1], *last) if is_in_tuple else args + more  # type: ignore[misc]


def _as_written(
    function: Callable, args: tuple, values: dict[str, Any], call: WrittenCall, left_out: frozenset[str]
) -> Given | None:
    """The arguments of a call of that form; None if the values are not such a call's. `left_out` may be."""
    described, count, keywords = parameters_of(function), call.positional, call.keywords
    positional = _separate(_in_front(args, len(described.names)), count)
    parameters = [_parameter_of(keyword, values) for keyword in keywords]
    is_twice = not set(described.names[:count]).isdisjoint(keywords)
    if positional is None or None in parameters or is_twice:
        return None
    named = {keyword: values[parameter] for keyword, parameter in zip(keywords, parameters) if parameter is not None}
    given = {id(value) for value in (*args[:count], *positional, *named.values(), ...)}
    others = (value for name, value in values.items() if name not in left_out and not described.is_default(name, value))
    return (positional, named) if all(id(value) in given for value in others) else None


def _in_front(args: tuple, places: int) -> tuple:
    """The arguments without gaps: a resolver may have found out that one is to be given by another name."""
    moved = [value for value in args[places:] if value is not ...]
    front = [moved.pop(0) if value is ... and moved else value for value in args[:places]]
    return tuple([value for value in front + moved if value is not ...])


def _separate(args: tuple, count: int) -> tuple | None:
    """The first arguments. Ints that were given one by one may have become a tuple already, the last of them."""
    if count <= len(args):
        return args[:count]
    if args and isinstance(args[-1], tuple) and len(args) - 1 + len(args[-1]) == count:
        return (*args[:-1], *args[-1])
    return None


def _parameter_of(keyword: str, values: dict[str, Any]) -> str | None:
    """The parameter that a keyword means: perhaps by NumPy's name for it."""
    if keyword in values:
        return keyword
    return next((name for name, others in NUMPY_NAMES.items() if keyword in others and name in values), None)


def _as_numbers(args: tuple) -> tuple:
    return tuple([value._mt_array if type(value) is WrappedNumber else value for value in args])


def without_defaults(function: Callable, args: tuple, kwargs: dict) -> Given:
    """The call with all that has its default left out."""
    args = _as_numbers(args)
    parameters = parameters_of(function)
    names = parameters.names
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for place, (name, value) in enumerate(zip(names, args)):
        if value is ... or parameters.is_default(name, value):
            continue
        if place == len(positional):
            positional.append(value)
        else:
            keywords[name] = value
    positional += [value for value in args[len(names) :] if value is not ...]
    keywords |= {name: value for name, value in kwargs.items() if not parameters.is_default(name, value)}
    return tuple(positional), keywords
