"""Arguments of calls: conversions of what torch also accepts, and torch's texts for what it doesn't."""

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from mindtorch import errors
from mindtorch.device import device
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.schema import Argument
from mindtorch.dispatch.torch_function import handle_torch_function, overriding_arguments
from mindtorch.dtype import dtype
from mindtorch.layout import layout
from mindtorch.memory_format import memory_format
from mindtorch.tensor import Tensor

# -------------------- conversions --------------------
#
# Generated functions test for the type that nearly every call passes and come here with anything else. `function`,
# `name` and `position` (from 1, None for keyword-only arguments) are for the error text.


def scalar_of(value: Any, function: str, name: str, position: int | None = None) -> Any:
    """The Python number of a `Scalar` argument; 0-dim tensors and NumPy numbers are taken too."""
    if _is_number(value):
        return value.item() if hasattr(value, "item") else value
    raise errors.argument_type(function, name, position, "Number", value)


def float_of(value: Any, function: str, name: str, position: int | None = None) -> float:
    """The Python float of a `float` argument."""
    if isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, Tensor) and value.ndim == 0 and not value.is_complex():
        return float(value.item())
    raise errors.argument_type(function, name, position, "float", value)


def int_of(value: Any, function: str, name: str, position: int | None = None) -> int:
    """The Python int of an `int` argument. Like torch, it takes no bool and no float."""
    if is_int(value):
        return value.__index__()
    raise errors.argument_type(function, name, position, "int", value)


def ints_of(value: Any, function: str, name: str, position: int | None = None) -> tuple[int, ...]:
    """The tuple of an `int[]` argument: any list, tuple or Size of ints, or one 0-dim tensor."""
    if not isinstance(value, (list, tuple)):
        if not is_int(value) or isinstance(value, int):
            raise errors.argument_type(function, name, position, "tuple of ints", value)
        value = (value,)
    for place, item in enumerate(value):
        if type(item) is not int and not is_int(item):
            raise _bad_element(function, name, position, place, item)
    return tuple([item.__index__() for item in value])


def _bad_element(function: str, name: str, position: int | None, place: int, item: Any) -> TypeError:
    shown = errors.type_name(item)
    if place:
        return TypeError(
            f"{function}(): argument '{name}' failed to unpack the object at pos {place + 1} with error "
            f'"type must be tuple of ints,but got {shown}"'
        )
    where = f" (position {position})" if position else ""
    return TypeError(
        f"{function}(): argument '{name}'{where} must be tuple of ints, but found element of type {shown} at pos 0"
    )


def checked_tensor(value: Any, function: str) -> Any:
    """The tensor that is the first argument of a function."""
    if not isinstance(value, Tensor):
        raise errors.argument_type(function, "input", 1, "Tensor", value)
    return value


def requires_grad(tensor: Tensor) -> bool:
    return tensor._edge is not None and tensor.requires_grad


def is_int(value: Any) -> bool:
    """What torch takes for an int: ints, NumPy ints, and 0-dim integer tensors, but no bools."""
    if isinstance(value, Tensor):
        return value.ndim == 0 and value._array.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


# -------------------- what a schema type accepts --------------------


def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.ndim == 0 and not requires_grad(value)
    return isinstance(value, (int, float, complex, np.number, np.bool_))


_ACCEPTS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda value: isinstance(value, Tensor),
    "Scalar": _is_number,
    "int": is_int,
    "SymInt": is_int,
    "float": lambda value: isinstance(value, (float, int, np.floating)) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, (bool, np.bool_)),
    "str": lambda value: isinstance(value, str),
    "ScalarType": lambda value: isinstance(value, dtype),
    "Layout": lambda value: isinstance(value, layout),
    "Device": lambda value: isinstance(value, (device, str, int)),
    "MemoryFormat": lambda value: isinstance(value, memory_format),
}


def accepts(argument: Argument, value: Any) -> bool:
    """Whether a value fits an argument of a schema."""
    if value is None:
        return argument.optional or argument.default == "None"
    fits = _ACCEPTS.get(argument.element)
    if fits is None:
        return True
    if not argument.is_list:
        return fits(value)
    sized = argument.type.rstrip("?").endswith("[]")
    return all(map(fits, value)) if isinstance(value, (list, tuple)) else not sized and fits(value)


def fits_signature(entry: OpEntry, args: tuple, kwargs: dict) -> bool:
    """Whether a call fits an overload."""
    arguments = entry.schema.arguments
    if len(args) > sum(not argument.keyword_only for argument in arguments):
        return False
    given = {argument.name: value for argument, value in zip(arguments, args)}
    if given.keys() & kwargs.keys():
        return False
    given |= {name: value for name, value in kwargs.items() if name not in ("out", "requires_grad")}
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
    for position, (argument, value) in enumerate(zip(entry.schema.arguments, args), start=1):
        if argument.element == "Tensor" and not accepts(argument, value):
            raise _wrong_tensor(entry.base, argument, position, value)
    for argument in entry.schema.arguments:
        if argument.name in kwargs and not accepts(argument, kwargs[argument.name]):
            raise errors.argument_type(entry.base, argument.name, None, argument.shown_type, kwargs[argument.name])
    raise no_overload(entry.base, [entry], args, kwargs)


def _wrong_tensor(base: str, argument: Argument, position: int, value: Any) -> TypeError:
    """A value that is not a tensor, or a list with an element that is not a tensor."""
    if argument.is_list and isinstance(value, (list, tuple)):
        place = next(place for place, item in enumerate(value) if not isinstance(item, Tensor))
        shown = errors.type_name(value[place])
        return TypeError(f"expected Tensor as element {place} in argument {position - 1}, but got {shown}")
    return errors.argument_type(base, argument.name, position, argument.shown_type, value)


def not_implemented(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """The end of an operator with an operand that isn't a tensor: Python asks the other operand."""
    return NotImplemented


def as_operator(function: FunctionType) -> FunctionType:
    """The same code as a Python operator: `x * y` costs one frame, and an unknown operand gives NotImplemented."""
    operator = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    operator.__kwdefaults__ = (function.__kwdefaults__ or {}) | {"_reject": not_implemented}
    operator.__doc__ = function.__doc__
    vars(operator).update(vars(function))
    return operator


def raise_no_overload(functions: Iterable[Callable], args: tuple, kwargs: dict) -> NoReturn:
    """The end of a resolver: the arguments fit none of the overloads."""
    entries = [function.op for function in functions]  # type: ignore[attr-defined]
    raise no_overload(entries[0].base, entries, args, kwargs)


def no_overload(base: str, entries: list[OpEntry], args: tuple, kwargs: dict) -> TypeError:
    """torch's list of what would have been accepted."""
    given = {name: value for name, value in kwargs.items() if value is not None}
    got = [errors.type_name(value) for value in args]
    got += [f"{name}={errors.type_name(value)}" for name, value in given.items()]
    expected = "".join(_explain(entry, args, given) for entry in entries)
    return TypeError(
        f"{base}() received an invalid combination of arguments - got ({', '.join(got)}), "
        f"but expected one of:\n{expected}"
    )


def _explain(entry: OpEntry, args: tuple, kwargs: dict) -> str:
    """One overload, and why it wasn't taken. torch compares with the printed parts, `*` among them, and so do we."""
    parts = entry.schema.shown_arguments(takes_out="out" in (entry.function.__kwdefaults__ or {}))
    line = f" * ({', '.join(parts)})\n"
    if len(parts) != len(args) + len(kwargs):
        return line
    names = {argument.name for argument in entry.schema.arguments}
    unknown = [name for name in kwargs if name not in names]
    if unknown:
        return f"{line}      didn't match because some of the keywords were incorrect: {', '.join(unknown)}\n"
    if kwargs:
        return line
    shown = [_marked(part, value) for part, value in zip(parts, args)]
    return f"{line}      didn't match because some of the arguments have invalid types: ({', '.join(shown)})\n"


_SHOWN_ACCEPTS = {
    "Tensor ": _ACCEPTS["Tensor"],
    "Number ": lambda value: isinstance(value, (int, float, complex)),
    "int ": _ACCEPTS["int"],
    "bool ": _ACCEPTS["bool"],
    "float ": _ACCEPTS["float"],
    "tuple of ints ": lambda value: isinstance(value, (tuple, list)) and all(map(is_int, value)),
}


def _marked(part: str, value: Any) -> str:
    name = errors.type_name(value)
    fits = any(part.startswith(start) and fits(value) for start, fits in _SHOWN_ACCEPTS.items())
    return name if fits else f"!{name}!"
