"""Arguments of calls: conversions of what torch also accepts, and torch's texts for what it doesn't."""

import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from mindtorch import errors
from mindtorch.dispatch.argument_errors import element_error, first_element_error, missing_argument, refusal
from mindtorch.dispatch.argument_types import PYTHON_TYPES, accepts, is_dtype, is_float, is_int, is_number
from mindtorch.dispatch.methods import is_method_call
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.torch_function import handle_torch_function, overriding_arguments
from mindtorch.dtype import dtype
from mindtorch.tensor import Tensor, WrappedNumber, as_operand

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
    raise errors.argument_type(function, name, _shown_position(position), "Number", value)


def float_of(value: Any, function: str, name: str, position: int | None = None) -> float:
    """The Python float of a `float` argument."""
    if is_float(value):
        return float(value)
    raise errors.argument_type(function, name, _shown_position(position), "float", value)


def int_of(value: Any, function: str, name: str, position: int | None = None) -> int:
    """The Python int of an `int` argument. Like torch, it takes no bool and no float."""
    if is_int(value):
        return value.__index__()
    if value is ...:
        raise missing_argument(function, name)
    raise errors.argument_type(function, name, _shown_position(position), "int", value)


def bool_of(value: Any, function: str, name: str, position: int | None = None) -> bool:
    """The Python bool of a `bool` argument."""
    if isinstance(value, np.bool_):
        return bool(value)
    raise errors.argument_type(function, name, _shown_position(position), "bool", value)


def dtype_of(value: Any, function: str, name: str, position: int | None = None) -> dtype:
    """The dtype of a `ScalarType` argument; Python's types stand for dtypes."""
    if is_dtype(value):
        return PYTHON_TYPES.get(value, value)
    raise errors.argument_type(function, name, _shown_position(position), "torch.dtype", value)


def ints_of(value: Any, function: str, name: str, position: int | None = None) -> tuple[int, ...]:
    """The tuple of an `int[]` argument: any list, tuple or Size of ints, or one 0-dim tensor."""
    if value is ...:
        raise missing_argument(function, name)
    if not isinstance(value, (list, tuple)):
        if not is_int(value) or isinstance(value, int):
            raise errors.argument_type(function, name, _shown_position(position), "tuple of ints", value)
        value = (value,)
    for place, item in enumerate(value):
        if type(item) is not int and not is_int(item):
            if place:
                raise element_error(function, name, place, item)
            raise first_element_error(function, name, _shown_position(position), item)
    return tuple([item.__index__() for item in value])


def _shown_position(position: int | None) -> int | None:
    """torch doesn't count what stands in front of the dot. To be called by what a generated function calls."""
    return position - 1 if position and is_method_call(sys._getframe(2)) else position


def checked_tensor(value: Any, function: str) -> Any:
    """The tensor that is the first argument of a function."""
    if not isinstance(value, Tensor):
        raise errors.argument_type(function, "input", 1, "Tensor", value)
    return value


# -------------------- choosing among overloads --------------------


def fits_signature(entry: OpEntry, args: tuple, kwargs: dict) -> bool:
    """Whether a call fits an overload."""
    arguments = entry.schema.arguments
    if len(args) > sum(not argument.keyword_only for argument in arguments):
        return False
    given = {argument.name: value for argument, value in zip(arguments, args)}
    if given.keys() & kwargs.keys():
        return False
    added = kwargs.keys() & {"out", "requires_grad"}
    if added and not added <= (entry.function.__kwdefaults__ or {}).keys():
        return False
    given |= {name: value for name, value in kwargs.items() if name not in added}
    known = {argument.name: argument for argument in arguments}
    required = {argument.name for argument in arguments if argument.default is None}
    return (
        given.keys() <= known.keys()
        and required <= given.keys()
        and all(accepts(known[name], value) for name, value in given.items())
    )


# -------------------- errors --------------------


def raise_bad_argument(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """The end of a call with an argument that isn't a tensor: its `__torch_function__` takes over, or a TypeError."""
    overriders = overriding_arguments((*args, *kwargs.values()))
    if overriders:
        return handle_torch_function(function, overriders, args, kwargs)
    entry: OpEntry = function.op  # type: ignore[attr-defined]
    args, kwargs = as_given(function, args, kwargs)
    error = refusal([entry], args, kwargs, is_method_call(sys._getframe(1)))
    raise error or TypeError(f"{entry.base}(): the arguments are of no backend") from None


def number_first(function: Callable, reject: Callable, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The end of a call whose first argument is no tensor: `mul(2, x)` takes a number for one, the rest is refused."""
    if isinstance(input, Tensor) or type(input) is WrappedNumber or (operand := as_operand(input)) is None:
        return reject(function, input, *args, **kwargs)
    return function(operand, *args, **kwargs)


def raise_no_overload(function: Callable, overloads: Iterable[Callable], args: tuple, kwargs: dict) -> NoReturn:
    """The end of a resolver: the arguments fit none of the overloads."""
    args, kwargs = as_given(function, args, kwargs)
    entries = [overload.op for overload in overloads]  # type: ignore[attr-defined]
    error = refusal(entries, args, kwargs, is_method_call(sys._getframe(1)))
    raise error or TypeError(f"{function.__name__}() received an invalid combination of arguments")


def explained(
    error: Exception, function: Callable, overloads: Iterable[Callable], args: tuple, kwargs: dict
) -> Exception:
    """The error to raise for one that came up inside a call: torch's, if the arguments were wrong, or else that one."""
    if overriding_arguments((*args, *kwargs.values())):
        return error
    args, kwargs = as_given(function, args, kwargs)
    entries = [overload.op for overload in overloads]  # type: ignore[attr-defined]
    return refusal(entries, args, kwargs, is_method_call(sys._getframe(1))) or error


def as_given(function: Callable, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """What the user wrote, as far as one can tell: arguments that have their defaults are left out.

    What follows such an argument was given by keyword. `...` marks arguments that a resolver has no default for.
    """
    code = function.__code__
    args = tuple([value._array if type(value) is WrappedNumber else value for value in args])
    names = code.co_varnames[: code.co_argcount]
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ())))
    kwdefaults = function.__kwdefaults__ or {}
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for place, (name, value) in enumerate(zip(names, args)):
        if name in defaults and value is defaults[name]:
            continue
        if place == len(positional):
            positional.append(value)
        else:
            keywords[name] = value
    positional += [value for value in args[len(names) :] if value is not ...]
    keywords |= {
        name: value for name, value in kwargs.items() if name not in kwdefaults or value is not kwdefaults[name]
    }
    return tuple(positional), keywords
