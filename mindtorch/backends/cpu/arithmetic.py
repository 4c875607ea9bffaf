"""Computations of the elementwise ops that are more than one ufunc. They take arrays of one dtype and perhaps `out`."""

from typing import Any

import numpy as np

from mindtorch.backends.cpu.blockwise import blockwise, in_one_go
from mindtorch.backends.cpu.computing import REAL_NUMBERS

Array = np.ndarray

_FEW = 1 << 12
_BITS = {4: np.int32, 8: np.int64}


_ZEROS = {dtype: np.zeros((), dtype) for dtype in REAL_NUMBERS}


def _range_of(dtype: np.dtype[Any]) -> tuple[Array, Array]:
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return np.asarray(low, dtype), np.asarray(high, dtype)


_RANGES = {dtype: _range_of(dtype) for dtype in REAL_NUMBERS}  # the least and the greatest number


# -------------------- division --------------------


def check_divisor(dividend: Array, divisor: Array) -> None:
    if dividend.size and not np.all(divisor):
        raise RuntimeError("ZeroDivisionError")


def divide_integers_down(a: Array, b: Array, out: Array | None = None) -> Array:
    check_divisor(a, b)
    return np.floor_divide(a, b, out=out)


def divide_integers_to_zero(a: Array, b: Array, out: Array | None = None) -> Array:
    check_divisor(a, b)
    remainder = np.fmod(a, b)
    return np.floor_divide(a - remainder, b, out=out)


def divide_to_zero(a: Array, b: Array, out: Array | None = None) -> Array:
    return np.trunc(np.divide(a, b), out=out)


def remainder_of_integers(a: Array, b: Array, out: Array | None = None) -> Array:
    check_divisor(a, b)
    return np.remainder(a, b, out=out)


def remainder_of_floats(a: Array, b: Array, out: Array | None = None) -> Array:
    """As np.remainder, but a zero has the sign of the dividend."""
    result = np.remainder(a, b)
    if np.count_nonzero(result) != result.size:
        result = np.where(result == 0, np.copysign(result, a), result)
    return result if out is None else np.positive(result, out=out)


# -------------------- powers --------------------


def power_of_integers(a: Array, b: Array, out: Array | None = None) -> Array:
    """Negative powers of anything but 1 and -1 are 0."""
    negative = b < 0
    if not negative.any():
        return np.power(a, b, out=out)
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0)).astype(a.dtype)
    return choose(negative, inverse, np.power(a, np.maximum(b, 0)), out=out)


def complex_power(a: Array, b: Array, out: Array | None = None) -> Array:
    """exp(b * log(a)), also for bases whose logarithm is infinite: NumPy takes 0 ** 0 for 1, torch for nan."""
    has_logarithm = np.isfinite(a) & (a != 0)
    if has_logarithm.all():
        return np.power(a, b, out=out)
    return choose(has_logarithm, np.power(a, b), np.exp(b * np.log(a)), out=out)


def ones(x: Array, exponent: Array, out: Array | None = None) -> Array:
    """The power of 1, and with the exponent 0."""
    return np.add(np.zeros_like(x), np.ones_like(exponent), out=out)


def first_power(x: Array, exponent: Array, out: Array | None = None) -> Array:
    return copy(x, out)


def cube(x: Array, out: Array | None = None) -> Array:
    return np.multiply(x * x, x, out=out)


def reciprocal(x: Array, out: Array | None = None) -> Array:
    return np.divide(np.ones((), x.dtype), x, out=out)


def reciprocal_sqrt(x: Array, out: Array | None = None) -> Array:
    return reciprocal(np.sqrt(x), out=out)


def reciprocal_square(x: Array, out: Array | None = None) -> Array:
    return reciprocal(x * x, out=out)


# -------------------- signs --------------------


def copy(x: Array, out: Array | None = None) -> Array:
    """Rounding and conjugating leave integers as they are."""
    if out is None:
        return x.copy()
    np.copyto(out, x)
    return out


def negative(x: Array, out: Array | None = None) -> Array:
    """-x, not written straight into an array with gaps: NumPy 2.4 misreads `x` then if its stride is 16 or 64 bytes."""
    if out is None or out.flags.c_contiguous:
        return np.negative(x, out=out)
    np.copyto(out, np.negative(x))
    return out


def sign(x: Array, out: Array | None = None) -> Array:
    """0 for nan, as in torch."""
    return np.subtract(x > 0, x < 0, out=out, dtype=x.dtype)


def sign_of_complex(x: Array, out: Array | None = None) -> Array:
    size = np.abs(x)
    result = np.asarray(np.divide(x, size, out=out))
    np.copyto(result, 0, where=size == 0)
    return result


def angle(x: Array, out: Array | None = None) -> Array:
    result = np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0))
    result = np.where(np.isnan(x), x, result)
    return result if out is None else copy(result, out)


def angle_of_complex(x: Array, out: Array | None = None) -> Array:
    return np.arctan2(x.imag, x.real, out=out)


# -------------------- rounding --------------------


def round_decimals(x: Array, decimals: int, out: Array | None = None) -> Array:
    scale = x.dtype.type(10.0 ** abs(decimals))
    if decimals < 0:
        return np.multiply(np.rint(x / scale), scale, out=out)
    return np.divide(np.rint(x * scale), scale, out=out)


# -------------------- choosing --------------------


def choose(condition: Array, a: Array, b: Array, out: Array | None = None) -> Array:
    result: Array = np.where(condition, a, b)
    return result if out is None else copy(result, out)


def keep(x: Array, mask: Array, out: Array) -> None:
    """`x` where the mask is set, else 0, for inf and nan, too: floats are multiplied as the integers of their bits."""
    if x.dtype.kind == "f":
        bits = _BITS[x.itemsize]
        x, out = x.view(bits), out.view(bits)
    np.multiply(x, mask, out=out)


@in_one_go
def at_least(x: Array, low: Array, out: Array | None = None) -> Array:
    if _is_worth_clipping(x, low):
        return np.clip(x, low, _RANGES[x.dtype][1], out=out)
    return np.maximum(x, low, out=out)


@in_one_go
def at_most(x: Array, high: Array, out: Array | None = None) -> Array:
    if _is_worth_clipping(x, high):
        return np.clip(x, _RANGES[x.dtype][0], high, out=out)
    return np.minimum(x, high, out=out)


@in_one_go
def clamp(x: Array, low: Array, high: Array, out: Array | None = None) -> Array:
    if _is_worth_clipping(x, low, high):
        return np.clip(x, low, high, out=out)
    if out is high:  # to be read when `out` is written already
        return np.minimum(np.maximum(x, low), high, out=out)
    raised = np.maximum(x, low, out=out)
    return np.minimum(raised, high, out=out if raised is out else None)


def _is_worth_clipping(x: Array, *limits: Array) -> bool:
    """np.clip takes longer to start, but is three times as fast where a limit is a number: maximum and minimum are not
    vectorized then."""
    return x.size > _FEW and not any([limit.ndim for limit in limits])


@in_one_go
def relu(x: Array, out: Array | None = None) -> Array:
    if out is None and x.size <= _FEW:
        return np.maximum(x, _ZEROS[x.dtype])
    return at_least(x, _ZEROS[x.dtype], out)


@blockwise(arrays=2)
def threshold(out: Array, x: Array, other: Array, threshold: float, value: float) -> None:
    number = x.dtype.type
    np.copyto(out, np.where(x <= number(threshold), number(value), other))


@blockwise(arrays=2)
def hardtanh_backward(out: Array, x: Array, grad: Array, low: float, high: float) -> None:
    number = x.dtype.type
    keep(grad, ~((x <= number(low)) | (x >= number(high))), out)


@blockwise(arrays=2)
def threshold_backward(out: Array, x: Array, grad: Array, threshold: float) -> None:
    keep(grad, ~(x <= x.dtype.type(threshold)), out)


@blockwise(arrays=1, temporaries=1)
def leaky_relu(out: Array, x: Array, slope: float, scaled: Array | None) -> None:
    pick = np.maximum if slope <= 1 else np.minimum
    pick(x, np.multiply(x, x.dtype.type(slope), scaled), out=out)


@blockwise(arrays=2)
def leaky_relu_backward(out: Array, x: Array, grad: Array, slope: float) -> None:
    np.copyto(out, np.where(x > 0, grad, grad * x.dtype.type(slope)))


# -------------------- three operands --------------------


def lerp(start: Array, end: Array, weight: Array, out: Array | None = None) -> Array:
    """Exact at both ends: the formula starts from the end that is nearer."""
    if weight.size and not any(weight.strides):  # the same everywhere
        weight = weight[(0,) * weight.ndim]
    near_start = np.abs(weight) < 0.5
    if near_start.ndim == 0:
        step = np.subtract(end, start, out=_other_than(start, out))
        if near_start:
            return np.add(start, np.multiply(weight, step, out=_other_than(start, out)), out=out)
        return np.subtract(end, np.multiply(step, 1 - weight, out=_other_than(start, out)), out=out)
    difference = end - start
    return choose(near_start, start + weight * difference, end - difference * (1 - weight), out=out)


def addcmul(x: Array, a: Array, b: Array, value: Any, out: Array | None = None) -> Array:
    return np.add(x, np.multiply(_scaled(a, value), b, out=_other_than(x, out)), out=out)


def addcdiv(x: Array, a: Array, b: Array, value: Any, out: Array | None = None) -> Array:
    return np.add(x, np.divide(_scaled(a, value), b, out=_other_than(x, out)), out=out)


def _other_than(x: Array, out: Array | None) -> Array | None:
    """The output, for what is computed on the way, unless it is the operand, which is needed still.

    It shares memory with no other operand, or it would not be given to a computation.
    """
    return None if out is x else out


def _scaled(x: Array, factor: Any) -> Array:
    return x if factor == 1 else x * np.asarray(factor).astype(x.dtype)


def add_scaled(a: Array, b: Array, alpha: Any, out: Array | None = None) -> Array:
    return np.add(a, _scaled(b, alpha), out=out)


def subtract_reversed(a: Array, b: Array, out: Array | None = None) -> Array:
    return np.subtract(b, a, out=out)


def subtract_scaled(a: Array, b: Array, alpha: Any, out: Array | None = None) -> Array:
    return np.subtract(a, _scaled(b, alpha), out=out)
