"""Functions of two float32 arrays for which NumPy calls the C library once per element.

Here they are passes over blocks, most of them in float64, where these give the same; what is not finite, or too large,
is left to NumPy.
"""

from collections.abc import Callable
from math import isfinite, isnan

import numpy as np

from mindtorch._core.promotion import FLOAT
from mindtorch._support.numpy_functions import is_all, largest, smallest
from mindtorch.backends.cpu.common.blockwise import blockwise

Array = np.ndarray

_FEW = 1 << 11
# A quotient of two float32 numbers that is smaller differs from every integer by more than float64 rounds it.
_LARGEST_QUOTIENT = 2.0**22


def _in_passes(passes: Callable[[Array, Array], Array | None], general: Callable[..., Array]) -> Callable[..., Array]:
    """A computation by `passes` where they give a result, else by `general`."""

    @blockwise(arrays=2)
    def in_blocks(out: Array, a: Array, b: Array) -> None:
        result = passes(a, b)
        np.copyto(out, general(a, b) if result is None else result, casting="same_kind")

    def computation(a: Array, b: Array, out: Array | None = None) -> Array:
        if a.dtype is FLOAT and a.size > _FEW:
            return in_blocks(a, b, out=out)
        return general(a, b, out=out)

    return computation


def _rounded_quotient(a: Array, b: Array, rounding: np.ufunc) -> Array | None:
    """In float64; None if that would not be exact."""
    quotient = np.divide(a, b, dtype=np.float64)
    rounding(quotient, quotient)
    is_exact = largest(quotient) < _LARGEST_QUOTIENT and smallest(quotient) > -_LARGEST_QUOTIENT  # not with NaN, either
    return quotient if is_exact and is_all(np.isfinite(b)) else None


def _quotient(a: Array, b: Array) -> Array | None:
    return _rounded_quotient(a, b, np.floor)


def _remainder(a: Array, b: Array, rounding: np.ufunc) -> Array | None:
    quotient = _rounded_quotient(a, b, rounding)
    if quotient is None:
        return None
    quotient *= b
    return _with_signed_zeros(np.subtract(a, quotient, quotient), a)


def _with_signed_zeros(result: Array, dividend: Array) -> Array:
    """A zero has the sign of the dividend."""
    if np.count_nonzero(result) != result.size:
        np.copysign(result, dividend, out=result, where=result == 0)
    return result


def _general_remainder(a: Array, b: Array, out: Array | None = None) -> Array:
    result = _with_signed_zeros(np.asarray(np.remainder(a, b)), a)
    return result if out is None else np.positive(result, out=out)


def _hypotenuse(a: Array, b: Array) -> Array | None:
    total = np.multiply(a, a, dtype=np.float64)
    total += np.multiply(b, b, dtype=np.float64)
    return np.sqrt(total, total) if isfinite(largest(total)) else None


def _log_of_sum(a: Array, b: Array) -> Array | None:
    small = np.subtract(a, b)
    np.abs(small, small)
    if isnan(largest(small)):
        return None
    np.negative(small, small)
    np.exp(small, small)
    np.log1p(small, small)
    small += np.maximum(a, b)
    return small


floor_divide = _in_passes(_quotient, np.floor_divide)
fmod = _in_passes(lambda a, b: _remainder(a, b, np.trunc), np.fmod)
remainder = _in_passes(lambda a, b: _remainder(a, b, np.floor), _general_remainder)
hypot = _in_passes(_hypotenuse, np.hypot)
logaddexp = _in_passes(_log_of_sum, np.logaddexp)
