"""Python numbers that must fit into a dtype, as torch's `value cannot be converted` check sees it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._core.dtype import ALL_DTYPES, FROM_NUMPY, c_name, finfo
from mindtorch._core.promotion import BOOL, common_dtype, is_integral, real_number
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.computing import FLOATS, widened
from mindtorch.iterator.constants import check_width, kept_constant


def checked_number(number: Any, dtype: np.dtype) -> np.ndarray:
    """A number as a 0-d array of `dtype`, which others may have, too: it is not for writing.

    Torch's error when the dtype does not reach that far.
    """
    if (type(number) is float or type(number) is int) and dtype in FLOATS and -_ORDINARY < number < _ORDINARY:
        return kept_constant(number, dtype)
    if dtype.kind == "b":
        return np.array(bool(number))
    number = _fitting(number, dtype)
    if dtype.kind in "iu":
        return np.array(int(number) % (1 << 64), np.uint64).astype(dtype)
    return cast(np.asarray(number), dtype)


def parameter(number: Any, dtype: np.dtype) -> Any:
    """The same as a Python number, for elements of a floating-point dtype. (Others are not for such ops to judge.)"""
    if (type(number) is float or type(number) is int) and -_SMALL < number < _SMALL or dtype not in LARGEST:
        return number
    return _fitting(number, dtype)


def wide_parameter(number: Any, dtype: np.dtype) -> Any:
    """The same for an op that computes on 16-bit floats in float32, with the number, too."""
    return parameter(number, widened(dtype))


def filling(number: Any, target: np.ndarray) -> np.ndarray:
    """A number to fill an array with. A single 16-bit float is converted as elements are: it may become infinite."""
    if target.size == 1 and target.itemsize == 2 and target.dtype in LARGEST:
        return cast(np.asarray(real_number(number), np.float64), target.dtype)
    return checked_number(number, target.dtype)


def _fitting(number: Any, dtype: np.dtype) -> Any:
    """The number, as a real one if the dtype is real."""
    if isinstance(number, complex) and dtype.kind != "c":
        if number.imag:
            raise _overflow(dtype)
        number = number.real
    if isinstance(number, int):
        check_width(number)
    if not _FITS[dtype.kind](number, dtype):
        raise _overflow(dtype)
    return number


_SMALL = 1e4  # fits into every floating-point dtype
_ORDINARY = 1e18  # fits into every dtype of FLOATS, and an integer into the 64 bits of a constant


def _overflow(dtype: np.dtype) -> RuntimeError:
    is_sized = dtype.kind in "iu" and dtype != np.int32
    name = f"{dtype.name}_t" if is_sized else c_name(FROM_NUMPY[dtype])
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def _fits_integer(number: Any, dtype: np.dtype) -> bool:
    lowest, highest = _LIMITS[dtype]
    if isinstance(number, float):
        return lowest <= number <= highest
    return bool((lowest or -highest) <= number <= highest)  # negative integers wrap around in unsigned dtypes


def _fits_float(number: Any, dtype: np.dtype) -> bool:
    return isinstance(number, float) and not math.isfinite(number) or abs(number) <= LARGEST[dtype]


def _fits_complex(number: Any, dtype: np.dtype) -> bool:
    part = np.dtype(f"f{dtype.itemsize // 2}")
    number = complex(number)
    return _fits_float(number.real, part) and _fits_float(number.imag, part)


_LIMITS = {
    info.dtype: (int(info.min), int(info.max))
    for info in [np.iinfo(dtype.numpy) for dtype in ALL_DTYPES if dtype.numpy.kind in "iu"]
}
LARGEST = {dtype.numpy: finfo(dtype).max for dtype in ALL_DTYPES if dtype.is_floating_point}

_FITS: dict[str, Callable[[Any, np.dtype], bool]] = {
    "i": _fits_integer,
    "u": _fits_integer,
    "f": _fits_float,
    "V": _fits_float,
    "c": _fits_complex,
}


def is_one(alpha: complex, input: Any, other: Any) -> bool:
    """Whether alpha changes nothing; refuses one of a higher kind than the result."""
    if type(alpha) is int:
        return alpha == 1
    dtype = common_dtype(input, other)
    if isinstance(alpha, bool) and dtype != BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if not isinstance(alpha, int) and is_integral(dtype):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and dtype.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    return alpha == 1
