"""Conversions between dtypes as torch does them, for arrays and for Python numbers."""

from collections.abc import Sequence

import numpy as np

from mindtorch._core.dtype import FROM_NUMPY, bfloat16
from mindtorch._core.promotion import can_cast
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import copied_at_once
from mindtorch._support.warnings import warn_once
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.halves import convert_into, converted
from mindtorch.backends.cpu.common.transposing import copy_elements
from mindtorch.iterator import needs_resize

Array = np.ndarray

_SINGLE = np.dtype(np.float32)
_DOUBLE = np.dtype(np.float64)
_BYTE = np.dtype(np.uint8)
_NARROW_FLOATS = (np.dtype(np.float16), bfloat16.numpy)


def cast(array: Array, dtype: np.dtype) -> Array:
    """A copy of `array` with another dtype, in the same memory order; `array` itself when nothing changes."""
    source = array.dtype
    if source == dtype:
        return array
    if source.kind == "c" and dtype.kind != "c":
        if dtype.kind == "b":
            return quiet(np.not_equal, array, 0)
        warn_once("Casting complex values to real discards the imaginary part")
        array = array.real
    # C++ goes through float from and to the 16-bit dtypes; so does the rounding.
    if source in _NARROW_FLOATS or (dtype in _NARROW_FLOATS and array.dtype != _SINGLE):
        array = converted(array, _SINGLE)
    # By way of int64, of which the last byte is left when a number doesn't fit; NumPy goes through int32.
    if array.dtype == _DOUBLE and dtype == _BYTE:
        array = quiet(array.astype, np.int64)
    return converted(array, dtype)


def copy_into(target: Array, source: Array) -> None:
    """Writes `source`, broadcast and converted, to `target`."""
    if source.dtype == target.dtype:
        copy_elements(target, source)
    elif _in_one_step(source.dtype, target.dtype):
        convert_into(target, source)
    else:
        np.copyto(target, cast(source, target.dtype))


def _in_one_step(source: np.dtype, dtype: np.dtype) -> bool:
    """Whether NumPy converts as `cast` does, so that no copy is needed on the way."""
    if source in _NARROW_FLOATS or dtype in _NARROW_FLOATS:
        return _SINGLE in (source, dtype)
    if source == _DOUBLE and dtype == _BYTE:
        return False
    return source.kind != "c" or dtype.kind == "c"


def deliver(result: Array, out: Array | None) -> Array:
    """The array that holds the result: `out` when it has the result's shape, else a new one of the dtype of `out`.

    NumPy makes scalars of arrays without dimensions; they become arrays again.
    """
    if out is not None:
        if copied_at_once(out, result):
            return out
        if not needs_resize(out, result.shape):
            copy_into(out, result)
            return out
        result = cast(result, out.dtype)
    return np.asarray(result) if isinstance(result, np.generic) else result


def deliver_same(result: Array, out: Array | None) -> Array:
    """As `deliver`, for ops whose `out` must have the dtype of the result."""
    check_same(result, out)
    return deliver(result, out)


def check_same(result: Array, out: Array | None) -> None:
    if out is not None and out.dtype is not result.dtype and out.dtype != result.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {c_name(result)}, but got {c_name(out)} instead")


def row_major(out: Array, shape: tuple[int, ...]) -> Array:
    """`out`, or a row-major array of its dtype when it has another shape."""
    return np.empty(shape, out.dtype) if needs_resize(out, shape) else out


def deliver_castables(
    op: str, names: Sequence[str], results: Sequence[Array], out: Sequence[Array] | None
) -> tuple[Array, ...]:
    """As `deliver_castable`, for several results."""
    triples = zip(names, results, out or [None] * len(results), strict=True)
    return tuple([deliver_castable(op, name, result, each) for name, result, each in triples])


def deliver_castable(op: str, name: str, result: Array, out: Array | None) -> Array:
    """As `deliver`, for ops whose `out` may have a wider dtype; what is converted is in the order of rows."""
    if out is None or out.dtype == result.dtype:
        return deliver(result, out)
    given, wanted = FROM_NUMPY[out.dtype], FROM_NUMPY[result.dtype]
    if not can_cast(wanted, given):
        raise RuntimeError(
            f"{op}: Expected {name} to be safely castable from {wanted.storage_name} dtype, but got {name} with dtype "
            f"{given.storage_name}"
        )
    return deliver(np.ascontiguousarray(result), out)
