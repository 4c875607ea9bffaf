"""Normal random numbers by the Box-Muller transform, rounded as torch rounds them.

From 16 numbers on torch transforms blocks of 16 uniform numbers, eight pairs each, and computes float32 with its own
polynomials for the logarithm, the sine and the cosine (those of the Cephes library, with fused multiply-add). They are
repeated here step by step, because a library function that is more exact gives other last bits.
"""

import math

import numpy as np

from mindtorch.backends.cpu.fused import fused_multiply_add

Array = np.ndarray

BLOCK = 16
_PAIRS = 8
_CHUNK = 1 << 14  # numbers transformed together, so that temporaries stay in the cache

_single = np.float32


def normal_from_pairs(first: float, second: float) -> tuple[float, float]:
    """Two normal numbers from two uniform ones."""
    radius = math.sqrt(-2 * math.log1p(-second))
    angle = 2 * math.pi * first
    return radius * math.cos(angle), radius * math.sin(angle)


def transform_blocks(uniform: Array, mean: float, std: float) -> None:
    """Replaces uniform numbers, whole blocks of 16 of float32 or float64, by normal ones."""
    transform = _transform_single if uniform.dtype == np.float32 else _transform_double
    for start in range(0, uniform.size, _CHUNK):
        transform(uniform[start : start + _CHUNK].reshape(-1, BLOCK), mean, std)


def _transform_double(blocks: Array, mean: float, std: float) -> None:
    radius = np.sqrt(-2 * np.log(1 - blocks[:, :_PAIRS]))
    angle = 2 * math.pi * blocks[:, _PAIRS:]
    blocks[:, :_PAIRS] = fused_multiply_add(radius * np.cos(angle), std, mean)
    blocks[:, _PAIRS:] = fused_multiply_add(radius * np.sin(angle), std, mean)


def _transform_single(blocks: Array, mean: float, std: float) -> None:
    radius = np.sqrt(_single(-2) * _log(_single(1) - blocks[:, :_PAIRS]))
    sine, cosine = _sine_cosine(_single(2 * math.pi) * blocks[:, _PAIRS:])
    mean, std = _single(mean), _single(std)
    blocks[:, :_PAIRS] = fused_multiply_add(radius * cosine, std, mean)
    blocks[:, _PAIRS:] = fused_multiply_add(radius * sine, std, mean)


def _polynomial(x: Array, coefficients: Array) -> Array:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = fused_multiply_add(value, x, coefficient)
    return value


_HALF, _ONE = _single(0.5), _single(1)
_SQRT_HALF = _single(0.707106781186547524)
_LN2_HIGH, _LN2_LOW = _single(0.693359375), _single(-2.12194440e-4)  # their sum is ln 2
_LOG = np.array(
    [
        7.0376836292e-2,
        -1.1514610310e-1,
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    ],
    np.float32,
)


def _log(x: Array) -> Array:
    """The natural logarithm: x = m * 2**e with m around 1, then a polynomial in m - 1."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < _SQRT_HALF
    exponent = (exponent - small).astype(np.float32)
    x = np.where(small, (mantissa - _ONE) + mantissa, mantissa - _ONE)
    square = x * x
    value = fused_multiply_add(_polynomial(x, _LOG) * x, square, exponent * _LN2_LOW)
    value = x + fused_multiply_add(square, -_HALF, value)
    return fused_multiply_add(exponent, _LN2_HIGH, value)


_FOUR_OVER_PI = _single(1.27323954473516)
_MINUS_QUARTER_PI = np.array([-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8], np.float32)
_SINE = np.array([-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1], np.float32)
_COSINE = np.array([2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2], np.float32)


def _sine_cosine(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of angles that are not negative: polynomials in the distance to an even multiple of pi/4."""
    octant = (x * _FOUR_OVER_PI).astype(np.int32)
    octant = (octant + 1) & ~1
    multiple = octant.astype(np.float32)
    for part in _MINUS_QUARTER_PI:
        x = fused_multiply_add(multiple, part, x)
    square = x * x
    cosine = fused_multiply_add(_polynomial(square, _COSINE) * square, square, -(square * _HALF)) + _ONE
    sine = fused_multiply_add(_polynomial(square, _SINE) * square, x, x)
    swapped = octant & 2 != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    return np.where(octant & 4, -sine, sine), np.where((octant - 2) & 4, cosine, -cosine)
