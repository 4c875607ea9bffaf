"""Arguments of calls: conversions of what torch also accepts, and torch's texts for what it doesn't."""

from collections.abc import Callable, Iterable
from functools import cache
from operator import index
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mindtorch._core.device import device
from mindtorch._core.dtype import PYTHON_TYPES, dtype, is_dtype
from mindtorch._core.generator import Generator
from mindtorch._core.layout import layout
from mindtorch._core.memory_format import memory_format
from mindtorch._core.tensor import Tensor, WrappedNumber, as_operand, lacks_array
from mindtorch._support import errors
from mindtorch.dispatch.arguments.errors import element_error, missing_argument, refusal, unpacking_overflow
from mindtorch.dispatch.arguments.given import as_given, without_defaults
from mindtorch.dispatch.arguments.types import (
    is_float,
    is_index,
    is_int,
    is_int_in_list,
    is_number,
    is_single_int,
    test_of,
)
from mindtorch.dispatch.kernel_errors import NUMPY_ERRORS, in_torchs_words
from mindtorch.dispatch.methods import is_method
from mindtorch.dispatch.parameters import parameters_of
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.torch_function import begin_with, handle_torch_function, overriding_arguments

# What the Python functions of factories and of ops with an out variant take besides the schema's arguments.
_ADDED = frozenset(("out", "requires_grad"))

# -------------------- conversions --------------------
#
# Generated functions test for the type that nearly every call passes and come here with anything else. `function`,
# `name` and `position` (from 1, None for keyword-only arguments) are for the error text.


def scalar_of(value: Any, function: str, name: str, position: int | None = None) -> Any:
    """The Python number of a `Scalar` argument; 0-dim tensors and NumPy numbers are taken too."""
    if is_number(value):
        if type(value) is np.bool_:  # no Python bool: torch reads it as a float
            return float(value)
        return value.item() if hasattr(value, "item") else value
    raise errors.argument_type(function, name, position, "Number", value)


def float_of(value: Any, function: str, name: str, position: int | None = None) -> float:
    """The Python float of a `float` argument."""
    if is_float(value):
        return float(value)
    raise errors.argument_type(function, name, position, "float", value)


def int_of(value: Any, function: str, name: str, position: int | None = None) -> int:
    """The Python int of an `int` argument. Like torch, it takes no bool, no float, and nothing of more than 64 bits."""
    if is_int(value):
        number = value.__index__()
        if -(2**63) <= number < 2**63:
            return number
        raise errors.unpacking_overflow()
    if value is ...:
        raise missing_argument(function, name)
    raise errors.argument_type(function, name, position, "int", value)


def index_of(value: Any, function: str, name: str, position: int | None = None) -> int:
    """The Python int of a `SymInt` argument, which takes more than an `int` does."""
    return int_of(index(value) if is_index(value) else value, function, name, position)


def bool_of(value: Any, function: str, name: str, position: int | None = None) -> bool:
    """The end of a call with a `bool` argument that is none: nothing else is taken for one."""
    raise errors.argument_type(function, name, position, "bool", value)


def str_of(value: Any, function: str, name: str, position: int | None = None) -> str:
    """The string of a `str` argument that may be of a subclass."""
    if isinstance(value, str):
        return value
    raise errors.argument_type(function, name, position, "str", value)


def generator_of(value: Any, function: str, name: str, position: int | None = None) -> Generator:
    """The generator that was given for random numbers."""
    if isinstance(value, Generator):
        return value
    raise errors.argument_type(function, name, position, "torch.Generator", value)


def dtype_of(value: Any, function: str, name: str, position: int | None = None) -> dtype:
    """The dtype of a `ScalarType` argument; Python's types stand for dtypes."""
    if is_dtype(value):
        return PYTHON_TYPES.get(value, value)
    raise errors.argument_type(function, name, position, "torch.dtype", value)


_INTS = {int}


def ints_of(value: Any, function: str, name: str, position: int | None = None) -> tuple[int, ...]:
    """The tuple of an `int[]` argument: any list, tuple or Size of ints."""
    if type(value) is list and {*map(type, value)} == _INTS:
        return tuple(value)
    if value is ...:
        raise missing_argument(function, name)
    if not isinstance(value, (list, tuple)):
        raise errors.argument_type(function, name, position, "tuple of ints", value)
    for place, item in enumerate(value):
        if type(item) is not int and not is_int_in_list(item):
            raise element_error(function, name, place, item)
    return tuple([item.__index__() for item in value])


def sized_ints_of(value: Any, function: str, name: str, position: int | None = None) -> tuple[int, ...]:
    """The tuple of an argument such as `int[2]`, for which one int may stand."""
    return (index(value),) if is_single_int(value) else ints_of(value, function, name, position)


def separate_ints_of(
    value: Any, more: tuple, is_taken: bool, function: str, name: str, position: int | None = None
) -> tuple[int, ...]:
    """The tuple of an `int[]` argument that is alone: a factory or a method takes its ints one by one, too."""
    if is_index(value):
        if is_taken:
            value = (index(value), *more)
    elif more and value is not ...:
        raise errors.argument_type(function, name, position, "tuple of ints", value)
    return ints_of(value, function, name, position)


def joined_ints(value: Any, more: tuple, is_taken: bool) -> tuple:
    """The arguments in the place of separate ints where these are taken: a tuple of them. Others stay as they are."""
    return ((index(value), *more),) if is_taken and is_index(value) else (value, *more)


def checked_tensor(value: Any, function: str) -> Any:
    """The tensor that is the first argument of a function."""
    if not isinstance(value, Tensor):
        raise errors.argument_type(function, "input", 1, "Tensor", value)
    return value


# -------------------- choosing among overloads --------------------


class _Fitting(NamedTuple):
    """What decides whether a call fits an overload."""

    positional: int
    tests: tuple[Callable[[Any], bool], ...]
    places: dict[str, int]
    required: tuple[tuple[int, str], ...]
    added: frozenset[str]


@cache
def _fitting(entry: OpEntry) -> _Fitting:
    arguments = entry.schema.arguments
    return _Fitting(
        sum(not argument.keyword_only for argument in arguments),
        tuple([test_of(argument) for argument in arguments]),
        {argument.name: place for place, argument in enumerate(arguments) if argument.name not in _ADDED},
        tuple([(place, argument.name) for place, argument in enumerate(arguments) if argument.default is None]),
        _ADDED & parameters_of(entry.function).defaults.keys(),
    )


def fits_signature(entry: OpEntry, args: tuple, kwargs: dict) -> bool:
    """Whether a call fits an overload."""
    count, (positional, tests, places, required, added) = len(args), _fitting(entry)
    if count > positional:
        return False
    for test, value in zip(tests, args):
        if not test(value):
            return False
    for name, value in kwargs.items():
        place = places.get(name)
        if place is None:
            if name not in added:
                return False
        elif place < count or not tests[place](value):
            return False
    for place, name in required:
        if place >= count and name not in kwargs:
            return False
    return True


def fits_by_position(entry: OpEntry, args: tuple) -> bool:
    """Whether what is given by position fits an overload."""
    positional, tests, *_ = _fitting(entry)
    return all(test(value) for test, value in zip(tests[:positional], args))


# Types of which every value fits an argument, or none does. A tensor, a list or a NumPy number depends on its value.
_ALIKE = frozenset((bool, int, float, str, type(None), dtype, device, layout, memory_format))

_found: dict[tuple, Callable] = {}  # the overload for a call, by the resolver's overloads and the arguments' types


def overload_for(overloads: tuple[Callable, ...], args: tuple, kwargs: dict) -> Callable | None:
    """The first of the overloads that a call fits. Each begins with a tensor."""
    types = (*map(type, args), *map(type, kwargs.values()))
    call = (overloads, types, *kwargs)
    found = _found.get(call)
    if found is None:
        fitting = (each for each in overloads if fits_signature(each.op, args, kwargs))  # type: ignore[attr-defined]
        found = next(fitting, None)
        if found is not None and args and types[0] is Tensor and _is_told_by_types(args[1:], kwargs):
            _found[call] = found
    return found


def _is_told_by_types(args: tuple, kwargs: dict) -> bool:
    """Whether another call with arguments of these types fits the same overload; any tensor will do for `out`."""
    options = [type(value) for name, value in kwargs.items() if name != "out" or type(value) is not Tensor]
    return _ALIKE.issuperset(map(type, args)) and _ALIKE.issuperset(options)


# -------------------- errors --------------------

# What a call can end with whose arguments were only looked at by their types: all that wrong values may lead to.
CALL_ERRORS = (AttributeError, TypeError, IndexError, RuntimeError, *NUMPY_ERRORS)


def raise_bad_argument(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """The end of a call with an argument that isn't a tensor: its `__torch_function__` takes over, or a TypeError."""
    overriders = overriding_arguments((*args, *kwargs.values()))
    if overriders:
        return _overridden(function, overriders, args, kwargs)
    entry: OpEntry = function.op  # type: ignore[attr-defined]
    no_backend = f"{entry.base}(): the arguments are of no backend"
    raise _refusal_of(function, [entry], args, kwargs) or TypeError(no_backend) from None


def _overridden(function: Callable, overriders: list[Any], args: tuple, kwargs: dict) -> Any:
    """The call as the `__torch_function__` of arguments that are no tensors has it."""
    args, kwargs = without_defaults(function, args, kwargs)
    begin_with(overriders)
    return handle_torch_function(function, overriders, args, kwargs)


def failed(error: Exception, function: Callable, values: dict[str, Any]) -> Any:
    """The end of a call inside of which an error came up: torch's, if the arguments were wrong, or else that one.

    `values`: what the names in the function stand for, the error among them.

    An error holds the frames that it passes. None of them may hold the error: in such a cycle the tensors of a call
    that has failed would live on.
    """
    try:
        args, kwargs = parameters_of(function).passed(values)
        values.clear()
        return _failed(error, function, args, kwargs)
    finally:
        del error


def _failed(error: Exception, function: Callable, args: tuple, kwargs: dict) -> Any:
    found = error
    try:
        overriders = overriding_arguments((*args, *kwargs.values()))
        if overriders and lacks_array(error):
            return _overridden(function, overriders, args, kwargs)
        if not overriders:
            found = _explained(error, function, args, kwargs)
        if found is error:
            raise error
        raise found from None
    finally:
        del error, found


def failed_or_number_first(error: Exception, function: Callable, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The same where the first argument may be a number: `mul(2, x)`."""
    try:
        if lacks_array(error) and not isinstance(input, (Tensor, WrappedNumber)):
            operand = as_operand(input)
            if operand is not None:
                return function(operand, *args, **kwargs)
        return _failed(error, function, (input, *args), kwargs)
    finally:
        del error


def raise_no_overload(function: Callable, overloads: Iterable[Callable], values: dict[str, Any]) -> NoReturn:
    """The end of a resolver: the arguments fit none of the overloads. `values`: what the names in it stand for."""
    args, kwargs = parameters_of(function).passed(values)
    raise_unmatched(function, overloads, args, kwargs)


def raise_unmatched(function: Callable, overloads: Iterable[Callable], args: tuple, kwargs: dict) -> NoReturn:
    """The same for a resolver whose parameters are not the arguments of its overloads."""
    no_overload = f"{function.__name__}() received an invalid combination of arguments"
    raise _refusal_of(function, _entries_of(overloads), args, kwargs) or TypeError(no_overload)


def _explained(error: Exception, function: Callable, args: tuple, kwargs: dict) -> Exception:
    """torch looks at all arguments, in order, so that it may complain about one that has not been converted yet.

    That takes its time, so that what kernels say of values, which programs may expect, is left alone.
    """
    entries: list[OpEntry] = [function.op]  # type: ignore[attr-defined]
    is_of_argument = isinstance(error, (AttributeError, TypeError)) or str(error) == errors.UNPACKING_OVERFLOW
    if is_of_argument or kwargs.get("device") is not None:  # one that there is not is a RuntimeError
        refused = _refusal_of(function, entries, args, kwargs)
        if refused is not None:
            return refused
    return unpacking_overflow(entries, args, kwargs) or in_torchs_words(error)


def _refusal_of(function: Callable, entries: list[OpEntry], args: tuple, kwargs: dict) -> TypeError | None:
    if is_method(function) and args and not isinstance(args[0], Tensor):
        return _no_method_of(entries[0], args[0])
    old_calls: Iterable[Any] = getattr(function, "old_calls", ())
    has_hidden = any(not form.since for form in old_calls)
    given, keywords = as_given(function, args, kwargs)
    return refusal(_in_python(entries), given, keywords, is_method(function), has_hidden)


def _no_method_of(entry: OpEntry, given: Any) -> TypeError:
    """A method that was called as a function of the class, `Tensor.exp([1])`, with something else than a tensor."""
    if given is ...:
        return TypeError(f"unbound method TensorBase.{entry.base}() needs an argument")
    kind = type(given).__name__
    return TypeError(f"descriptor '{entry.base}' for 'torch._C.TensorBase' objects doesn't apply to a '{kind}' object")


def _entries_of(overloads: Iterable[Callable]) -> list[OpEntry]:
    return [overload.op for overload in overloads]  # type: ignore[attr-defined]


def _in_python(entries: list[OpEntry]) -> list[OpEntry]:
    """The overloads that torch's Python function has. Ours may have one for several of them."""
    op = entries[0]
    known = op.overloads
    others = [each for each in known if not (each.absent_in_torch or each.boxed)]
    functional = {each.name: each for each in (*entries, *others) if not each.schema.is_out}
    return list(functional.values()) or entries
