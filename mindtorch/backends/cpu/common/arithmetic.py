"""Computations of the elementwise ops that are more than one ufunc. They take arrays of one dtype and perhaps `out`."""

from typing import Any

import numpy as np

from mindtorch._support.numpy_functions import WRITTEN_OVER, copyto, is_all, is_any, where
from mindtorch.backends.cpu.common.blockwise import blockwise, in_one_go
from mindtorch.backends.cpu.common.computing import REAL_NUMBERS
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray

_FEW = 1 << 12
_BITS = {4: np.int32, 8: np.int64}

_ZEROS = {dtype: np.zeros((), dtype) for dtype in REAL_NUMBERS}


def _range_of(dtype: np.dtype[Any]) -> tuple[Array, Array]:
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return np.asarray(low, dtype), np.asarray(high, dtype)


RANGES = {dtype: _range_of(dtype) for dtype in REAL_NUMBERS}  # the least and the greatest number


# -------------------- division --------------------


def check_divisor(dividend: Array, divisor: Array) -> None:
    if dividend.size and not is_all(divisor):
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


# -------------------- powers --------------------


def power(a: Array, b: Array, out: Array | None = None) -> Array:
    """NumPy takes the square root where an exponent of 0.5 is broadcast: others than the powers of -inf and -0."""
    if hasattr(b, "shape") and (b.size == 1 or b.shape != np.shape(a) or 0 in b.strides):
        half = b == 0.5
        if is_any(half):
            a = np.where(half & ((a == -np.inf) | (a == 0)), np.abs(a), a)
    return np.power(a, b, out=out)


def power_of_integers(a: Array, b: Array, out: Array | None = None) -> Array:
    """Negative powers of anything but 1 and -1 are 0."""
    negative = b < 0
    if not is_any(negative):
        return np.power(a, b, out=out)
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0)).astype(a.dtype)
    return choose(negative, inverse, np.power(a, np.maximum(b, 0)), out=out)


def complex_power(a: Array, b: Array, out: Array | None = None) -> Array:
    """exp(b * log(a)), also for bases whose logarithm is infinite: NumPy takes 0 ** 0 for 1, torch for nan.

    NumPy multiplies where the exponent is a small integer, and what is too large on the way makes nan of the result.
    """
    result = np.asarray(np.power(a, b))
    usual = np.isfinite(a) & (a != 0) & np.isfinite(result)
    if is_all(usual):
        return result if out is None else copy(result, out)
    return choose(usual, result, np.exp(b * np.log(a)), out=out)


def ones(x: Array, exponent: Array, out: Array | None = None) -> Array:
    """The power of 1, and with the exponent 0."""
    return np.add(np.zeros_like(x), np.ones_like(exponent), out=out)


def first_power(x: Array, exponent: Array, out: Array | None = None) -> Array:
    return copy(x, out)


def cube(x: Array, out: Array | None = None) -> Array:
    return np.multiply(x * x, x, out=out)


def reciprocal(x: Array, out: Array | None = None) -> Array:
    return np.divide(kept_constant(1, x.dtype), x, out=out)


def reciprocal_sqrt(x: Array, out: Array | None = None) -> Array:
    return reciprocal(np.sqrt(x), out=out)


def reciprocal_square(x: Array, out: Array | None = None) -> Array:
    return reciprocal(x * x, out=out)


# -------------------- signs --------------------


def copy(x: Array, out: Array | None = None) -> Array:
    """Rounding and conjugating leave integers as they are."""
    if out is None:
        return x.copy()
    copyto(out, x)
    return out


def negative(x: Array, out: Array | None = None) -> Array:
    """-x, not written straight into an array with gaps: NumPy 2.4 misreads `x` then if its stride is 16 or 64 bytes."""
    if out is None or out.flags.c_contiguous:
        return np.negative(x, out=out)
    np.copyto(out, np.negative(x))
    return out


def negative_of_complex(x: Array, out: Array | None = None) -> Array:
    """That of all parts, for which NumPy is eight times as fast."""
    if not x.ndim or not x.flags.c_contiguous or not (out is None or out.flags.c_contiguous):
        return negative(x, out)
    parts = x.real.dtype
    return np.negative(x.view(parts), out=None if out is None else out.view(parts)).view(x.dtype)


@blockwise(arrays=1)
def sign(out: Array, x: Array) -> None:
    """0 for nan, as in torch. The difference of two truths is quickest in bytes."""
    zero = _ZEROS[x.dtype]
    difference = np.greater(x, zero).view(np.int8)
    difference -= np.less(x, zero).view(np.int8)
    np.copyto(out, difference)


def sign_of_complex(x: Array, out: Array | None = None) -> Array:
    """Each part is divided: for the quotient of two complex numbers NumPy takes a reciprocal, which can be infinite."""
    size = np.abs(x)
    result = np.empty_like(x) if out is None else out
    real, imag = np.divide(x.real, size), np.divide(x.imag, size)
    result.real, result.imag = real, imag
    np.copyto(result, 0, where=size == 0)
    return result


def log1p_of_complex(z: Array, out: Array | None = None) -> Array:
    """Near 0 the real part, of which the logarithm of 1 + z has few digits, is log1p(|1 + z|² - 1) / 2."""
    x, y = z.real, z.imag
    is_small = (np.abs(x) < 0.5) & (np.abs(y) < 0.5)
    result = np.array(z)
    result.real += 1  # not of the sum with 1 + 0j, which loses the sign of an imaginary zero
    np.log(result, out=result)
    near = np.where(is_small, x * (2 + x) + y * y, 0)
    result.real = np.where(is_small, np.log1p(near) / 2, result.real)
    result.imag = np.where(is_small, np.arctan2(y, 1 + x), result.imag)
    return result if out is None else copy(result, out)


def least_common_multiple(a: Array, b: Array, out: Array | None = None) -> Array:
    """Where it does not fit into 32 or 64 bits, the size of what is left of it; shorter integers wrap around."""
    result = np.lcm(a, b, out=out)
    return np.abs(result, out=out) if result.itemsize >= 4 else result


@blockwise(arrays=1)
def angle(out: Array, x: Array) -> None:
    np.multiply(np.less(x, _ZEROS[x.dtype]), kept_constant(np.pi, x.dtype), out)
    is_nan = np.isnan(x)
    if is_any(is_nan):
        np.copyto(out, x, where=is_nan)


def angle_of_complex(x: Array, out: Array | None = None) -> Array:
    return np.arctan2(x.imag, x.real, out=out)


# -------------------- rounding --------------------


_MOST_DECIMALS = 308  # of which a float64 holds the power of ten


def round_decimals(x: Array, decimals: int, out: Array | None = None) -> Array:
    scale = x.dtype.type(10.0 ** abs(decimals) if abs(decimals) <= _MOST_DECIMALS else np.inf)
    if decimals < 0:
        return np.multiply(np.rint(x / scale), scale, out=out)
    return np.divide(np.rint(x * scale), scale, out=out)


# -------------------- choosing --------------------


def choose(condition: Array, a: Array, b: Array, out: Array | None = None) -> Array:
    if a.size > _FEW and a.shape == condition.shape:
        return picked(a, b, condition, out=out)
    result = where(condition, a, b)
    return result if out is None else copy(result, out)


def filled(x: Array, mask: Array, value: Array, out: Array | None = None) -> Array:
    """A number where the mask is set."""
    if out is None:
        return np.where(mask, value, x)
    if out is not x:
        copyto(out, x)
    np.copyto(out, value, where=mask)
    return out


def pick(condition: Array, a: Array, b: Array, out: Array, spare: Array | None = None) -> None:
    """`a` where the condition holds, else `b`: the bits in which they differ are flipped in `b`.

    np.where branches for each element, which takes five times as long where the condition has no pattern. `out` can be
    `a` or `b`; `spare` is an array like them.
    """
    bits = _BITS.get(a.itemsize)
    is_like = a.shape == b.shape == condition.shape and a.ndim  # NumPy makes numbers of arrays without dimensions
    if bits is None or not is_like or a.size <= WRITTEN_OVER:
        np.copyto(out, where(condition, a, b))
        return
    flipped = np.bitwise_xor(a.view(bits), b.view(bits), None if spare is None else spare.view(bits))
    np.multiply(flipped, condition, flipped)
    np.bitwise_xor(b.view(bits), flipped, out.view(bits))


@blockwise(arrays=3, temporaries=1)
def picked(out: Array, a: Array, b: Array, condition: Array, spare: Array | None) -> None:
    pick(condition, a, b, out, spare)


def keep(x: Array, mask: Array, out: Array) -> None:
    """`x` where the mask is set, else 0, for inf and nan, too: floats are multiplied as the integers of their bits."""
    if x.dtype.kind == "f":
        bits = _BITS[x.itemsize]
        x, out = x.view(bits), out.view(bits)
    np.multiply(x, mask, out=out)


# A number that equals a limit stays as it is, so that a zero keeps its sign: of two that are equal NumPy's maximum and
# minimum give the second, and its clip the limit.


@in_one_go
def at_least(x: Array, low: Array, out: Array | None = None) -> Array:
    if _is_worth_clipping(x, low):
        return x.clip(low, RANGES[x.dtype][1], out=out)
    return np.maximum(low, x, out=out)


@in_one_go
def at_most(x: Array, high: Array, out: Array | None = None) -> Array:
    if _is_worth_clipping(x, high):
        return x.clip(RANGES[x.dtype][0], high, out=out)
    return np.minimum(high, x, out=out)


@in_one_go
def clamp(x: Array, low: Array, high: Array, out: Array | None = None) -> Array:
    if _is_worth_clipping(x, low, high):
        return x.clip(low, high, out=out)
    if out is high:  # to be read when `out` is written already
        return np.minimum(high, np.maximum(low, x), out=out)
    raised = np.maximum(low, x, out=out)
    return np.minimum(high, raised, out=out if raised is out else None)


def _is_worth_clipping(x: Array, *limits: Array) -> bool:
    """np.clip takes longer to start, but is three times as fast where a limit is a number: maximum and minimum are not
    vectorized then. A zero that equals a limit becomes the limit, whatever its sign: looking for one takes half as long
    as all the rest."""
    return x.size > _FEW and not any([limit.ndim for limit in limits])


@in_one_go
def relu(x: Array, out: Array | None = None) -> Array:
    if out is None and x.size <= _FEW:
        return np.maximum(_ZEROS[x.dtype], x)
    return at_least(x, _ZEROS[x.dtype], out)


@blockwise(arrays=2, temporaries=2)
def threshold(
    out: Array, x: Array, other: Array, threshold: float, value: float, filled: Array | None, spare: Array | None
) -> None:
    number = x.dtype.type
    if x.size > WRITTEN_OVER:
        if filled is None:
            filled = np.empty_like(other)
        filled[...] = number(value)
        pick(x <= number(threshold), filled, other, out, spare)
    else:
        copyto(out, where(x <= kept_constant(threshold, x.dtype), kept_constant(value, x.dtype), other))


@blockwise(arrays=2)
def hardtanh_backward(out: Array, grad: Array, x: Array, low: float, high: float) -> None:
    number = x.dtype.type
    keep(grad, ~((x <= number(low)) | (x >= number(high))), out)


@blockwise(arrays=2)
def threshold_backward(out: Array, x: Array, grad: Array, threshold: float) -> None:
    keep(grad, ~(x <= x.dtype.type(threshold)), out)


@blockwise(arrays=1, temporaries=1)
def leaky_relu(out: Array, x: Array, slope: float, scaled: Array | None) -> None:
    extreme = np.maximum if slope <= 1 else np.minimum
    extreme(x, np.multiply(x, x.dtype.type(slope), scaled), out=out)


@blockwise(arrays=2, temporaries=2)
def leaky_relu_backward(
    out: Array, x: Array, grad: Array, slope: float, scaled: Array | None, spare: Array | None
) -> None:
    scaled = np.multiply(grad, x.dtype.type(slope), scaled)
    pick(x > _ZEROS[x.dtype], grad, scaled, out, spare)


def threshold_backward_of_alike(grad: Array, x: Array, threshold: float, out: Array | None = None) -> Array:
    return threshold_backward(x, grad, threshold, out=out)


def leaky_relu_backward_of_alike(grad: Array, x: Array, slope: float, out: Array | None = None) -> Array:
    return leaky_relu_backward(x, grad, slope, out=out)


def hardshrink(x: Array, lambd: float, out: Array | None = None) -> Array:
    return hardshrink_backward(x, x, lambd, out)


def hardshrink_backward(grad: Array, x: Array, lambd: float, out: Array | None = None) -> Array:
    if x.size <= WRITTEN_OVER:
        return choose(np.abs(x) <= kept_constant(lambd, x.dtype), _ZEROS[x.dtype], grad, out)
    return _kept_outside(grad, x, lambd, out=out)


@blockwise(arrays=2, temporaries=1)
def _kept_outside(out: Array, grad: Array, x: Array, lambd: float, size: Array | None) -> None:
    keep(grad, ~(np.abs(x, size) <= kept_constant(lambd, x.dtype)), out)


def softshrink(x: Array, lambd: float, out: Array | None = None) -> Array:
    if x.size > WRITTEN_OVER:
        return _shrunk(x, lambd, out=out)
    bound = kept_constant(lambd, x.dtype)
    moved = np.asarray(x - x.clip(kept_constant(-lambd, x.dtype), bound))
    return choose(np.abs(x) <= bound, np.asarray(x * _ZEROS[x.dtype]), moved, out)  # as its loop for few has it


@blockwise(arrays=1, temporaries=1)
def _shrunk(out: Array, x: Array, lambd: float, near: Array | None) -> None:
    """As PyTorch's vector loop has it: what is between the limits becomes a zero without its sign."""
    near = x.clip(kept_constant(-lambd, x.dtype), kept_constant(lambd, x.dtype), out=near)
    np.subtract(x, near, out)


def prelu(x: Array, weight: Array, out: Array | None = None) -> Array:
    return choose(x > _ZEROS[x.dtype], x, np.asarray(weight * x), out)


# -------------------- three operands --------------------


def lerp(start: Array, end: Array, weight: Array, out: Array | None = None) -> Array:
    """Exact at both ends: the formula starts from the end that is nearer."""
    if weight.size and not any(weight.strides):  # the same everywhere
        number = weight.item(0)
        if abs(number) < 0.5:
            return _lerp_from_start(start, end, weight if not weight.ndim else weight[(0,) * weight.ndim], out=out)
        return _lerp_from_end(start, end, np.asarray(1 - weight[(0,) * weight.ndim]), out=out)
    if weight.size > _WHOLE:
        return _lerp_by_element(start, end, weight, out=out)
    near_start = np.abs(weight) < 0.5
    difference = end - start
    return choose(near_start, start + weight * difference, end - difference * (1 - weight), out=out)


_WHOLE = 1 << 15  # elements: the temporaries of so many are in the cache without being cut


@blockwise(arrays=3, temporaries=3)
def _lerp_by_element(
    out: Array, start: Array, end: Array, weight: Array, step: Array | None, rest: Array | None, spare: Array | None
) -> None:
    near_start = (np.abs(weight) if weight.dtype.kind == "c" else np.abs(weight, spare)) < 0.5
    step = np.subtract(end, start, step)
    rest = np.multiply(step, np.subtract(kept_constant(1, step.dtype), weight, rest), rest)
    rest = np.subtract(end, rest, rest)
    step = np.add(start, np.multiply(weight, step, step), step)
    pick(near_start, step, rest, out, spare)


@blockwise(arrays=2, temporaries=1)
def _lerp_from_start(out: Array, start: Array, end: Array, weight: Array, step: Array | None) -> None:
    step = np.subtract(end, start, step)
    np.add(start, np.multiply(step, weight, step), out)


@blockwise(arrays=2, temporaries=1)
def _lerp_from_end(out: Array, start: Array, end: Array, rest: Array, step: Array | None) -> None:
    step = np.subtract(end, start, step)
    np.subtract(end, np.multiply(step, rest, step), out)


@blockwise(arrays=3, temporaries=1)
def addcmul(out: Array, x: Array, a: Array, b: Array, value: Any, t: Array | None) -> None:
    np.add(x, np.multiply(_scaled(a, value, t), b, t), out)


@blockwise(arrays=3, temporaries=1)
def addcdiv(out: Array, x: Array, a: Array, b: Array, value: Any, t: Array | None) -> None:
    np.add(x, np.divide(_scaled(a, value, t), b, t), out)


def _scaled(x: Array, factor: Any, spare: Array | None) -> Array:
    return x if factor == 1 else np.multiply(x, kept_constant(factor, x.dtype), spare)


@blockwise(arrays=2, temporaries=1)
def add_scaled(out: Array, a: Array, b: Array, alpha: Any, t: Array | None) -> None:
    np.add(a, _scaled(b, alpha, t), out)


def subtract_reversed(a: Array, b: Array, out: Array | None = None) -> Array:
    return np.subtract(b, a, out=out)


@blockwise(arrays=2, temporaries=1)
def subtract_scaled(out: Array, a: Array, b: Array, alpha: Any, t: Array | None) -> None:
    np.subtract(a, _scaled(b, alpha, t), out)
