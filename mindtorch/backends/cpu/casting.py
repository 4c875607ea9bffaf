"""Conversions between dtypes as torch does them, for arrays and for Python numbers."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch import dtype as dtypes
from mindtorch.backends.cpu.checks import c_name
from mindtorch.backends.cpu.quiet import quiet
from mindtorch.iterator import needs_resize

Array = np.ndarray

_SINGLE = np.dtype(np.float32)
_NARROW_FLOATS = (np.dtype(np.float16), dtypes.bfloat16.numpy)


def cast(array: Array, dtype: np.dtype) -> Array:
    """A copy of `array` with another dtype, in the same memory order; `array` itself when nothing changes."""
    source = array.dtype
    if source == dtype:
        return array
    if source.kind == "c" and dtype.kind != "c":
        if dtype.kind == "b":
            return quiet(np.not_equal, array, 0)
        _warn_imaginary_lost()
        array = array.real
    # C++ goes through float from and to the 16-bit dtypes; so does the rounding.
    if source in _NARROW_FLOATS or (dtype in _NARROW_FLOATS and array.dtype != _SINGLE):
        array = quiet(array.astype, _SINGLE)
    return quiet(array.astype, dtype)


def _warn_imaginary_lost() -> None:
    warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=2)


def copy_into(target: Array, source: Array) -> None:
    """Writes `source`, broadcast and converted, to `target`."""
    if source.dtype == target.dtype:
        np.copyto(target, source)
    else:
        np.copyto(target, cast(source, target.dtype))


def deliver(result: Array, out: Array | None) -> Array:
    """The array that holds the result: `out` when it has the result's shape, else a new one of the dtype of `out`."""
    if out is None:
        return result
    if needs_resize(out, result.shape):
        return cast(result, out.dtype)
    copy_into(out, result)
    return out


def deliver_same(result: Array, out: Array | None) -> Array:
    """As `deliver`, for ops whose `out` must have the dtype of the result."""
    check_same(result, out)
    return deliver(result, out)


def check_same(result: Array, out: Array | None) -> None:
    if out is not None and out.dtype != result.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {c_name(result)}, but got {c_name(out)} instead")


# -------------------- numbers --------------------

_C_NAMES = {
    "bool": "bool",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int",
    "int64": "int64_t",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def checked_number(number: Any, dtype: np.dtype) -> Array:
    """A number as a 0-d array of `dtype`; torch's error when the dtype does not reach that far."""
    if dtype.kind == "b":
        return np.array(bool(number))
    if isinstance(number, complex) and dtype.kind != "c":
        if number.imag:
            raise _overflow(dtype)
        number = number.real
    if not _FITS[dtype.kind](number, dtype):
        raise _overflow(dtype)
    if dtype.kind in "iu":
        return np.array(int(number) % (1 << 64), np.uint64).astype(dtype)
    return cast(np.asarray(number), dtype)


def _overflow(dtype: np.dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {_C_NAMES[dtype.name]} without overflow")


def _fits_integer(number: Any, dtype: np.dtype) -> bool:
    limits = np.iinfo(dtype)
    if isinstance(number, float):
        return limits.min <= number <= limits.max
    lowest = -limits.max if limits.min == 0 else limits.min  # negative integers wrap around in unsigned dtypes
    return bool(lowest <= number <= limits.max)


def _fits_float(number: Any, dtype: np.dtype) -> bool:
    return isinstance(number, float) and not math.isfinite(number) or abs(number) <= _LARGEST[dtype]


def _fits_complex(number: Any, dtype: np.dtype) -> bool:
    part = np.dtype(f"f{dtype.itemsize // 2}")
    number = complex(number)
    return _fits_float(number.real, part) and _fits_float(number.imag, part)


_LARGEST = {dtype.numpy: dtypes.finfo(dtype).max for dtype in dtypes.ALL_DTYPES if dtype.is_floating_point}

_FITS: dict[str, Callable[[Any, np.dtype], bool]] = {
    "i": _fits_integer,
    "u": _fits_integer,
    "f": _fits_float,
    "V": _fits_float,
    "c": _fits_complex,
}
