"""The values of a program as JSON, and back.

A value that JSON has is itself; every other one is an object with one key, which says what it is.
"""

import math
from collections.abc import Callable
from typing import Any

from mindtorch._core.device import device
from mindtorch._core.dtype import ALL_DTYPES, dtype
from mindtorch._core.layout import layout, sparse_coo, sparse_csr, strided
from mindtorch._core.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from mindtorch.program.structure import Ref, as_constant, mapped


class BadValue(ValueError):
    """JSON that stands for no value."""


def _named(values: tuple[Any, ...]) -> dict[str, Any]:
    return {str(value).removeprefix("torch."): value for value in values}


_NAMES = {
    "dtype": _named(ALL_DTYPES),
    "layout": _named((strided, sparse_coo, sparse_csr)),
    "memory_format": _named((channels_last, channels_last_3d, contiguous_format, preserve_format)),
}
_CLASSES: dict[type, str] = {dtype: "dtype", layout: "layout", memory_format: "memory_format"}


def encode(value: Any) -> Any:
    """The JSON of a value."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, complex):
        return {"complex": [repr(value.real), repr(value.imag)]}
    if isinstance(value, device):
        return {"device": str(value)}
    if isinstance(value, Ref):
        return {"tensor": value.number}
    return {_CLASSES[type(value)]: str(value).removeprefix("torch.")}


def decode(data: Any) -> Any:
    """The value of its JSON; raises BadValue."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    kind, content = next(iter(data.items()), ("", None))
    if len(data) != 1 or kind not in _DECODERS:
        raise BadValue(f"{data!r} is none of: {', '.join(_DECODERS)}")
    try:
        return _DECODERS[kind](content)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, BadValue):
            raise
        raise BadValue(f"{content!r} is no {kind}") from None


def _complex(parts: Any) -> complex:
    real, imaginary = parts
    return complex(float(real), float(imaginary))


def _tuple(items: Any) -> tuple:
    return tuple(decode(list(items)))


def _dict(items: Any) -> dict:
    return {mapped(decode(key), as_constant): decode(item) for key, item in items}


def _tensor(number: Any) -> Ref:
    if type(number) is not int or number < 0:
        raise ValueError
    return Ref(number)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "tensor": _tensor,
    "tuple": _tuple,
    "dict": _dict,
    "float": float,
    "complex": _complex,
    "device": device,
    **{kind: names.__getitem__ for kind, names in _NAMES.items()},
}
