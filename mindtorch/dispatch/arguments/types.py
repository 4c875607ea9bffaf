"""What torch takes for an argument of a schema type."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch._core.device import device
from mindtorch._core.dtype import is_dtype
from mindtorch._core.generator import Generator
from mindtorch._core.layout import layout
from mindtorch._core.memory_format import memory_format
from mindtorch._core.tensor import Tensor

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Argument


def requires_grad(tensor: Tensor) -> bool:
    return tensor._mt_edge is not None and tensor.requires_grad


def is_int(value: Any) -> bool:
    """What torch takes for an int: ints, NumPy ints, and 0-dim integer tensors, but no bools."""
    if isinstance(value, Tensor):
        return value.ndim == 0 and value._mt_array.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_index(value: Any) -> bool:
    """What torch takes for a `SymInt`: whatever has an index, and tensors of one element whatever their dimensions."""
    if type(value) is int:
        return True
    if isinstance(value, Tensor):
        return value.numel() == 1 and value._mt_array.dtype.kind in "iu"
    if isinstance(value, (bool, np.bool_)):
        return False
    try:
        index(value)
    except TypeError:
        return False
    return True


def is_single_int(value: Any) -> bool:
    """What torch takes for all elements of a list such as `int[2]`."""
    if type(value) is int:
        return True
    if isinstance(value, Tensor):
        return value.numel() == 1 and value._mt_array.dtype.kind in "iub"
    return is_int(value)


def is_int_in_list(value: Any) -> bool:
    """The same in a list of ints, where tensors of one element may have dimensions."""
    if isinstance(value, Tensor):
        return value.numel() == 1 and value._mt_array.dtype.kind in "iu"
    return is_int(value)


def is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.ndim == 0 and not requires_grad(value)
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def is_float(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.ndim == 0 and not value.is_complex() and not requires_grad(value)
    return isinstance(value, (int, float, np.floating, np.integer, np.bool_))


_ACCEPTS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda value: isinstance(value, Tensor),
    "Scalar": is_number,
    "int": is_int,
    "SymInt": is_index,
    "float": is_float,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "ScalarType": is_dtype,
    "Layout": lambda value: isinstance(value, layout),
    "Device": lambda value: isinstance(value, (device, str, int)) and not isinstance(value, bool),
    "MemoryFormat": lambda value: isinstance(value, memory_format),
    "Generator": lambda value: isinstance(value, Generator),
}


# Where lists are more generous than single values.
_ACCEPTS_IN_LIST: dict[str, Callable[[Any], bool]] = {**_ACCEPTS, "int": is_int_in_list, "SymInt": is_int_in_list}


def accepts_element(argument: Argument, value: Any) -> bool:
    """Whether a value fits an argument that is no list, or an element of one that is."""
    tests = _ACCEPTS_IN_LIST if argument.is_list else _ACCEPTS
    return tests.get(argument.element, _accept_all)(value)


def accepts_nothing(argument: Argument) -> bool:
    """Whether None stands for the absence of the argument."""
    return argument.optional or argument.default == "None"


def accepts(argument: Argument, value: Any) -> bool:
    """Whether a value fits an argument of a schema."""
    return test_of(argument)(value)


def test_of(argument: Argument) -> Callable[[Any], bool]:
    """The function that says whether a value fits an argument of a schema."""
    fits, is_nothing_fine = _ACCEPTS.get(argument.element, _accept_all), accepts_nothing(argument)
    if not argument.is_list:
        return lambda value: is_nothing_fine if value is None else fits(value)
    is_sized, fits_element = argument.is_sized, _ACCEPTS_IN_LIST.get(argument.element, _accept_all)
    fits = is_single_int if argument.element in ("int", "SymInt") else fits

    def fits_list(value: Any) -> bool:
        if value is None:
            return is_nothing_fine
        if isinstance(value, (list, tuple)):
            return all(map(fits_element, value))
        return is_sized and fits(value)

    return fits_list


def _accept_all(value: Any) -> bool:
    return True
