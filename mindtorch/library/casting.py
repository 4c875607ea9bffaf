"""Values as the types of a schema: what torch takes for an `int` or a `Tensor?[]`, and its texts for the rest.

The same conversions are for the arguments of a call and for what a kernel returns.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mindtorch._core.device import device
from mindtorch._core.generator import Generator
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.schema.types import CONSTANTS, SchemaType, constant_numbered

Cast = Callable[[Any], Any]


class CastError(RuntimeError):
    """A value does not fit a type; `kind` is the class of the error where the value is a kernel's result."""

    kind: type[Exception] = RuntimeError

    def for_argument(self) -> str:
        """How torch says it of an argument."""
        return f"Cast error details: {self}"


class NotIterable(CastError):
    """Python's own error about a value that stands in the place of a list."""

    kind = TypeError

    def for_argument(self) -> str:
        return f" Python error details: TypeError: {self}"


def cast_for(kind: SchemaType) -> Cast:
    """The function that converts a value to a type of schemas."""
    if not kind.marks:
        return _CASTS.get(kind.base) or _constant_cast(kind.base)
    inner = cast_for(kind.inner)
    if kind.optional:
        return _optional_cast(inner)
    if kind.inner.marks or kind.base not in _WHOLE_LISTS:
        return _list_cast(inner)
    return _whole_list_cast(kind, inner)


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


def _to_defined_tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    raise _unable(value)


def _by_protocol(kind: type, value: Any, *protocols: str) -> Any:
    """`kind(value)` for values whose class says that it can be made one."""
    if not any(hasattr(value, protocol) for protocol in protocols):
        raise _unable(value)
    try:
        return kind(value)
    except (TypeError, ValueError, RuntimeError):
        raise _unable(value) from None


INT_LIMIT = 2**63


def _to_int(value: Any) -> int:
    if isinstance(value, float):
        raise _unable(value)
    number = value if type(value) is int else _by_protocol(int, value, "__index__", "__int__")
    if not -INT_LIMIT <= number < INT_LIMIT:
        raise _unable(value)
    return number


def _to_float(value: Any) -> float:
    return value if type(value) is float else _by_protocol(float, value, "__float__", "__index__")


def _to_bool(value: Any) -> bool:
    return False if value is None else _by_protocol(bool, value, "__bool__")


def _to_complex(value: Any) -> complex:
    return _by_protocol(complex, value, "__complex__", "__float__", "__index__")


# NumPy's float64 and complex128 are among these.
_NUMBERS: tuple[Any, ...] = (bool, int, float, complex)


def _to_number(value: Any) -> Any:
    for kind in _NUMBERS:
        if isinstance(value, kind):
            return kind(value)
    raise CastError(f"Cannot cast {value!s} to number")


def _to_str(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return value.decode()
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
        constant = constant_numbered(base, _to_int(value))
        if constant is None:
            raise _unable(value)
        return constant

    return cast


_CASTS: dict[str, Cast] = {
    "Tensor": _to_tensor,
    "int": _to_int,
    "SymInt": _to_int,
    "float": _to_float,
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


def _list_cast(inner: Cast) -> Cast:
    def cast(value: Any) -> list:
        try:
            elements = list(value)
        except TypeError as error:
            raise NotIterable(str(error)) from None
        return [inner(element) for element in elements]

    return cast


# Lists of these are converted as a whole in torch: a wrong element is an error about the list. For some of those with
# a size, such as `int[2]`, one value of these classes can stand for all.
_WHOLE_LISTS: dict[str, tuple[type, ...]] = {"Tensor": (), "int": (int,), "float": (float,), "bool": ()}


def _whole_list_cast(kind: SchemaType, inner: Cast) -> Cast:
    single = _WHOLE_LISTS[kind.base] if kind.size else ()
    element_cast = _to_defined_tensor if kind.base == "Tensor" else inner

    def cast(value: Any) -> list:
        if type(value) not in (list, tuple):
            if isinstance(value, single):
                return [inner(value)] * kind.size
            if isinstance(value, (str, bytes, Tensor, Mapping)):
                raise _unable(value)
        try:
            return [element_cast(element) for element in value]
        except (CastError, TypeError):
            raise _unable(value) from None

    return cast
