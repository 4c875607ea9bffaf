"""Values as the types of a schema: what torch takes for an `int` or a `Tensor?[]`, and its texts for the rest.

The same conversions are for the arguments of a call and for what a kernel returns.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch.device import device
from mindtorch.dispatch.schema_types import CONSTANTS, SchemaType, constant_numbered
from mindtorch.generator import Generator
from mindtorch.tensor import Tensor

Cast = Callable[[Any], Any]


class CastError(RuntimeError):
    """A value does not fit a type; `text` says why, `lead` is how torch begins that line in errors about arguments."""

    def __init__(self, text: str, lead: str = "Cast error details: ") -> None:
        super().__init__(text)
        self.lead = lead


def cast_for(kind: SchemaType) -> Cast:
    """The function that converts a value to a type of schemas."""
    if not kind.marks:
        return _CASTS.get(kind.base) or _constant_cast(kind.base)
    inner = cast_for(kind.inner)
    return _optional_cast(inner) if kind.optional else _list_cast(kind, inner)


def _unable(value: Any) -> CastError:
    shown = "<class 'torch.Tensor'>" if type(value) is Tensor else str(type(value))
    return CastError(
        f"Unable to cast Python instance of type {shown} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or "
        "compile in debug mode for details)"
    )


# -------------------- plain types --------------------


def _to_tensor(value: Any) -> Any:
    if isinstance(value, Tensor) or value is None:  # None is torch's undefined tensor
        return value
    raise CastError(f"Unable to cast {value!s} to Tensor")


def _to_int(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, bool) or _is_one_number(value):
        return int(value)
    if hasattr(value, "__index__") and not isinstance(value, Tensor):
        return value.__index__()
    raise _unable(value)


def _to_float(value: Any) -> float:
    if type(value) is float:
        return value
    if isinstance(value, (int, float, np.generic)) or _is_one_number(value):
        return float(value)
    raise _unable(value)


def _is_one_number(value: Any) -> bool:
    return isinstance(value, Tensor) and value.numel() == 1 and not value.is_complex()


def _to_bool(value: Any) -> bool:
    if value is None or hasattr(value, "__bool__"):
        return bool(value)
    raise _unable(value)


def _to_complex(value: Any) -> complex:
    if isinstance(value, (int, float, complex, np.number)):
        return complex(value)
    raise _unable(value)


def _to_number(value: Any) -> Any:
    if type(value) in (int, float, bool, complex):
        return value
    raise CastError(f"Cannot cast {value!s} to number")


def _to_str(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _unable(value)


def _to_device(value: Any) -> device:
    if isinstance(value, (device, str)):
        return device(value)
    raise _unable(value)


def _to_generator(value: Any) -> Generator:
    if isinstance(value, Generator):
        return value
    raise _unable(value)


def _constant_cast(base: str) -> Cast:
    """For dtypes, layouts and memory formats, which torch also takes as numbers."""

    def cast(value: Any) -> Any:
        if isinstance(value, CONSTANTS[base]):
            return value
        if type(value) is int:
            return constant_numbered(base, value)
        raise _unable(value)

    return cast


_CASTS: dict[str, Cast] = {
    "Tensor": _to_tensor,
    "int": _to_int,
    "SymInt": _to_int,
    "float": _to_float,
    "SymFloat": _to_float,
    "bool": _to_bool,
    "SymBool": _to_bool,
    "complex": _to_complex,
    "str": _to_str,
    "Scalar": _to_number,
    "Device": _to_device,
    "Generator": _to_generator,
}


# -------------------- optional values and lists --------------------


def _optional_cast(inner: Cast) -> Cast:
    def cast(value: Any) -> Any:
        return None if value is None else inner(value)

    return cast


# Lists of these are converted as a whole in torch: a wrong element is an error about the list.
_WHOLE_LISTS = frozenset(("Tensor", "int", "float", "bool", "complex"))


def _list_cast(kind: SchemaType, inner: Cast) -> Cast:
    as_a_whole = kind.inner.base in _WHOLE_LISTS and not kind.inner.marks
    takes_none = not (as_a_whole and kind.base == "Tensor")

    def cast(value: Any) -> list:
        if kind.size and type(value) is int:
            return [inner(value)] * kind.size
        if isinstance(value, (str, Tensor)) and kind.base != "str":
            raise _unable(value)
        try:
            elements = list(value)
        except TypeError as error:
            raise _unable(value) if as_a_whole else _not_iterable(error) from None
        try:
            converted = [inner(element) for element in elements]
        except CastError:
            if as_a_whole:
                raise _unable(value) from None
            raise
        if not takes_none and None in map(_absence, converted):
            raise _unable(value)
        return converted

    return cast


def _absence(value: Any) -> Any:
    """Something that can be compared with None; tensors compare element by element."""
    return None if value is None else True


def _not_iterable(error: TypeError) -> CastError:
    return CastError(f"TypeError: {error}", " Python error details: ")
