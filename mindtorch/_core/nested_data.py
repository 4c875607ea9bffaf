"""From nested Python sequences of numbers to an array: its shape, its element type and its values.

`tensor([[1, 2], [3, 4.5]])` and its relatives read their argument here. The first element at every level gives the
shape; the element types are joined by promotion; values are converted as C would, with an error where one does not fit.
"""

import cmath
import operator
from array import array as c_array
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from mindtorch._core import geometry, state
from mindtorch._core.dtype import bool as bool_dtype
from mindtorch._core.dtype import from_numpy_dtype, int64
from mindtorch._core.promotion import promote
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch._support.float_errors import quiet
from mindtorch._support.warnings import warn_once

MOST_DIMENSIONS = 128
REAL_KINDS = frozenset((float, int, bool))
PLAIN_KINDS = REAL_KINDS | {complex}
INT64 = int64.numpy


def read(data: Any, wanted: np.dtype | None = None) -> np.ndarray:
    """An array of a number or of nested sequences of numbers; `wanted` is its dtype, inferred when None."""
    if wanted is None:
        reader = _READERS.get(_only_kind(data))
        if reader is not None:
            return reader(data)
    if isinstance(data, str | bytes):
        raise _invalid(data)
    if isinstance(data, list | tuple) and data and isinstance(data[0], np.ndarray):
        warn_once(
            "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to "
            "a single numpy.ndarray with numpy.array() before converting to a tensor."
        )
    sizes = _sizes(data)
    dtype = _dtype_of(data) if wanted is None else wanted
    leaves: list = []
    try:
        if 0 not in sizes:
            _collect(leaves, data, sizes, 0)
    except (TypeError, ValueError):
        _converted(leaves, dtype)  # an element before the irregular place may be wrong too: that comes first
        raise
    values = _converted(leaves, dtype)
    if len(sizes) > geometry.MOST_DIMS:
        raise errors.too_many_dims()
    return values.reshape(sizes)


# -------------------- a number, a list or a list of lists of one Python type --------------------


def _only_kind(data: Any) -> type | None:
    """The type of all elements of a list or a rectangular list of lists; of anything else, its own type."""
    if type(data) is not list:
        return type(data)
    kinds = set(map(type, data))
    if kinds == _LISTS:
        if len(set(map(len, data))) != 1:
            return None
        kinds = {kind for row in data for kind in map(type, row)}
    return kinds.pop() if len(kinds) == 1 else None


def _read_floats(data: Any) -> np.ndarray:
    dtype = state.default_dtype.numpy
    return quiet(np.array, data, dtype if dtype.itemsize > 2 else np.float32).astype(dtype, copy=False)


def _read_integers(data: Any) -> np.ndarray:
    try:
        return np.array(data, np.int64)
    except OverflowError:
        raise errors.unpacking_overflow() from None


_LISTS = {list}
_READERS: dict[type | None, Callable[[Any], np.ndarray]] = {
    float: _read_floats,
    int: _read_integers,
    bool: partial(np.array, dtype=np.bool_),
}


# -------------------- shape --------------------


def is_sequence(value: Any) -> bool:
    kind = type(value)
    if kind is list or kind is tuple:
        return True
    return hasattr(kind, "__getitem__") and not isinstance(value, Tensor | np.generic | dict)


def _sizes(data: Any) -> tuple[int, ...]:
    """The length of the first sequence at every level."""
    sizes: list[int] = []
    while is_sequence(data) and not isinstance(data, str):
        if len(sizes) == MOST_DIMENSIONS:
            raise _too_deep(data)
        sizes.append(len(data))
        if not sizes[-1]:
            break
        data = data[0]
    if sizes and isinstance(data, str):
        raise _too_deep(data)
    return tuple(sizes)


def _collect(leaves: list, data: Any, sizes: tuple[int, ...], dim: int) -> None:
    """Append the elements in row-major order; whether they are numbers is seen when they are converted."""
    if dim == len(sizes):
        leaves.append(data)
        return
    elements = data if isinstance(data, list | tuple) else _iterated(data)
    if len(elements) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(elements)})")
    if dim == len(sizes) - 1:
        leaves.extend(elements)
        return
    for element in elements:
        _collect(leaves, element, sizes, dim + 1)


def _iterated(data: Any) -> list:
    try:
        return list(data)
    except TypeError:
        raise TypeError("not a sequence") from None


def _too_deep(value: Any) -> ValueError:
    return ValueError(f"too many dimensions '{type(value).__name__}'")


# -------------------- element type --------------------


def _inferred(elements: Sequence) -> np.dtype:
    """The dtype that holds all elements; that of an empty sequence is the default dtype."""
    kinds = set(map(type, elements))
    if kinds.issubset(_PLAIN_DTYPES):
        return reduce(promote, [_PLAIN_DTYPES[kind]() for kind in kinds] or [state.default_dtype.numpy])
    others = iter(elements)
    result = _dtype_of(next(others))
    for element in others:
        if result == np.complex128:
            break  # nothing changes this; what follows may well be no number
        result = promote(result, _dtype_of(element))
    return result


_PLAIN_DTYPES: dict[type, Callable[[], np.dtype]] = {
    float: lambda: state.default_dtype.numpy,
    int: lambda: INT64,
    bool: lambda: bool_dtype.numpy,
    complex: lambda: state.default_dtype.to_complex().numpy,
}


def _dtype_of(leaf: Any) -> np.dtype:
    if type(leaf) in _PLAIN_DTYPES:
        return _PLAIN_DTYPES[type(leaf)]()
    if isinstance(leaf, np.generic):
        return from_numpy_dtype(leaf.dtype).numpy
    if isinstance(leaf, Tensor):
        return leaf._mt_array.dtype
    for kind, dtype in _PLAIN_DTYPES.items():  # subclasses; nothing can be a subclass of bool
        if isinstance(leaf, kind):
            return dtype()
    if isinstance(leaf, str | bytes):
        raise _invalid(leaf)
    if is_sequence(leaf):
        return _inferred(leaf)
    raise RuntimeError(f"Could not infer dtype of {type(leaf).__name__}")


def _invalid(value: Any) -> TypeError:
    return TypeError(f"new(): invalid data type '{type(value).__name__}'")


# -------------------- values --------------------


def _converted(leaves: list, dtype: np.dtype) -> np.ndarray:
    return _CONVERTERS[dtype.kind](leaves, set(map(type, leaves)), dtype)


def _floats(leaves: list, kinds: set[type], dtype: np.dtype) -> np.ndarray:
    # array("d") converts like a C function that takes a double: it uses __float__ and gives the same errors.
    doubles = np.array(leaves, np.float64) if REAL_KINDS.issuperset(kinds) else np.array(c_array("d", leaves))
    if dtype.itemsize == 2:  # rounded twice, as C++ does: there is no direct conversion from double to a 16-bit type
        doubles = quiet(doubles.astype, np.float32)
    return doubles if dtype == doubles.dtype else quiet(doubles.astype, dtype)


def _complexes(leaves: list, kinds: set[type], dtype: np.dtype) -> np.ndarray:
    values = leaves if PLAIN_KINDS.issuperset(kinds) else [_complex(leaf) for leaf in leaves]
    return quiet(np.array(values, np.complex128).astype, dtype)


def _complex(leaf: Any) -> complex:
    cmath.isfinite(leaf)  # refuses everything that C would not convert, strings included
    return complex(leaf)


def _bools(leaves: list, kinds: set[type], dtype: np.dtype) -> np.ndarray:
    if PLAIN_KINDS.issuperset(kinds):
        return np.array(list(map(bool, leaves)), dtype)
    return np.array(list(map(_truth, leaves)), dtype)


def _truth(leaf: Any) -> bool:
    return bool(leaf if isinstance(leaf, float | complex | np.bool_) else operator.index(leaf))


def _integers(leaves: list, kinds: set[type], dtype: np.dtype) -> np.ndarray:
    if dtype == np.uint64:
        return np.array(list(map(_largest_integer, leaves)), np.uint64)
    high = int(np.iinfo(dtype).max)
    low = -high if dtype.kind == "u" else -high - 1  # a negative integer wraps around in an unsigned type
    if not (kinds <= _INTEGER_KINDS and (not leaves or low <= min(leaves) <= max(leaves) <= high)):
        leaves = [_integer(leaf, dtype, low, high) for leaf in leaves]
    return np.array(leaves, np.int64).astype(dtype)


_INTEGER_KINDS = {int, bool}


def _integer(leaf: Any, dtype: np.dtype, low: int, high: int) -> int:
    if isinstance(leaf, float):
        if not np.iinfo(dtype).min <= leaf <= high:
            raise _overflow(dtype)
        return int(leaf)
    number = operator.index(leaf)
    if not -(2**63) <= number < 2**63:
        raise errors.unpacking_overflow()
    if not low <= number <= high:
        raise _overflow(dtype)
    return number


def _largest_integer(leaf: Any) -> int:
    if not isinstance(leaf, int):
        raise TypeError("an integer is required")
    if leaf < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if leaf >= 2**64:
        raise OverflowError("int too big to convert")
    return leaf


def _overflow(dtype: np.dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")


_CONVERTERS: dict[str, Callable[[list, set[type], np.dtype], np.ndarray]] = {
    "f": _floats,
    "V": _floats,  # ml_dtypes' types call themselves void
    "c": _complexes,
    "b": _bools,
    "i": _integers,
    "u": _integers,
}
