"""Computations of numeric.py that are more than one ufunc. They take arrays of one dtype and perhaps `out`."""

from typing import Any

import numpy as np

from mindtorch._support.numpy_functions import is_all, is_any, where
from mindtorch.backends.cpu.common.arithmetic import check_divisor, choose, copy, log1p_of_complex
from mindtorch.backends.cpu.common.blockwise import blockwise
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray


# -------------------- the parts of numbers --------------------


def remainder_of_integers(a: Array, b: Array, out: Array | None = None) -> Array:
    """With the sign of the dividend."""
    check_divisor(a, b)
    return np.fmod(a, b, out=out)


@blockwise(arrays=1, temporaries=1)
def fraction(out: Array, x: Array, whole: Array | None) -> None:
    np.subtract(x, np.trunc(x, whole), out)


def _extreme_of_known(extreme: np.ufunc) -> Any:
    """Of two zeros the first: NumPy gives either, depending on where in an array they are."""

    def computation(a: Array, b: Array, out: Array | None = None) -> Array:
        found = np.asarray(extreme(a, b))
        is_zero = found == 0
        if is_any(is_zero):
            np.copyto(found, a, where=is_zero & (a == 0))
        return found if out is None else copy(found, out)

    return computation


larger = _extreme_of_known(np.fmax)
smaller = _extreme_of_known(np.fmin)


def times(factor: float, x: Array, out: Array | None = None) -> Array:
    return np.multiply(x, kept_constant(factor, x.dtype), out=out)


def signbit(x: Array, out: Array | None = None) -> Array:
    """Never written straight into an array with gaps, which NumPy 2.4 fills wrongly."""
    return np.signbit(x) if out is None else copy(np.signbit(x), out)


def is_negative(x: Array, out: Array | None = None) -> Array:
    return np.less(x, kept_constant(0, x.dtype), out=out)


def equals(value: float, x: Array, out: Array | None = None) -> Array:
    return np.equal(x, kept_constant(value, x.dtype), out=out)


def never(x: Array, out: Array | None = None) -> Array:
    return np.not_equal(x, x, out=out)


def heaviside(x: Array, at_zero: Array, out: Array | None = None) -> Array:
    """0 for nan."""
    zero = kept_constant(0, x.dtype)
    is_zero = np.equal(x, zero)
    if is_any(is_zero):
        return choose(is_zero, at_zero, (x > zero).astype(x.dtype), out)
    result = np.greater(x, zero).astype(x.dtype)
    return result if out is None else copy(result, out)


@blockwise(arrays=1)
def nan_to_num(out: Array, x: Array, nan: float, high: float, low: float) -> None:
    if is_all(np.isfinite(x)):
        np.copyto(out, x)
    else:
        np.copyto(out, np.nan_to_num(x, nan=nan, posinf=high, neginf=low))


# -------------------- exponents --------------------


def ldexp(x: Array, power: Array, out: Array | None = None) -> Array:
    return np.ldexp(x, power.clip(-20_000, 20_000).astype(np.int32), out=out)


def mantissa(x: Array, out: Array | None = None) -> Array:
    return np.asarray(np.frexp(x)[0]) if out is None else copy(np.frexp(x)[0], out)


def exponent(x: Array, out: Array | None = None) -> Array:
    return np.asarray(np.frexp(x)[1]) if out is None else copy(np.frexp(x)[1], out)


def next_narrow(dtype: np.dtype[Any], x: Array, towards: Array, out: Array | None = None) -> Array:
    """The neighbour in a narrower dtype, of numbers that it has."""
    return np.nextafter(x.astype(dtype), towards.astype(dtype)).astype(x.dtype)


# -------------------- logarithms and sines --------------------


def logaddexp_of_complex(a: Array, b: Array, out: Array | None = None) -> Array:
    """With the larger one before the brackets."""
    larger, smaller = np.where(a.real >= b.real, a, b), np.where(a.real >= b.real, b, a)
    return np.add(larger, log1p_of_complex(np.exp(smaller - larger)), out=out)


def logit(x: Array, eps: float | None, narrow: np.dtype[Any] | None, out: Array | None = None) -> Array:
    """Below eps that of eps, above 1 - eps that of 1 - eps; a negative eps is none.

    For a narrower dtype than that of the computation, every step is rounded to it.
    """
    if eps is not None and eps >= 0:
        low, high = kept_constant(eps, x.dtype), kept_constant(1 - eps, x.dtype)
        x = where(x < low, low, where(x > high, high, x))
    ratio = _rounded(x / _rounded(np.subtract(kept_constant(1, x.dtype), x), narrow), narrow)
    return np.log(ratio, out=out)


def _rounded(x: Array, narrow: np.dtype[Any] | None) -> Array:
    return x if narrow is None else x.astype(narrow).astype(x.dtype)


def sinc(x: Array, out: Array | None = None) -> Array:
    angle, is_zero = x * kept_constant(np.pi, x.dtype), np.equal(x, kept_constant(0, x.dtype))
    if is_any(is_zero):
        return choose(is_zero, kept_constant(1, x.dtype), np.sin(angle) / angle, out)
    return np.divide(np.sin(angle), angle, out=out)
