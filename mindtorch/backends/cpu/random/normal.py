"""Normal random numbers by the Box-Muller transform, rounded as torch rounds them.

From 16 numbers on torch transforms blocks of 16 uniform numbers, eight pairs each, and computes float32 with its own
polynomials for the logarithm, the sine and the cosine (those of the Cephes library, with fused multiply-add). They are
repeated here step by step, because a library function that is more exact gives other last bits.

The float32 steps run in float64 arrays that `_round` brings back to float32 numbers: there a product is exact, so that
a multiplication and an addition before the rounding are one fused step.
"""

import math

import numpy as np

from mindtorch.backends.cpu.common.fused import fused_multiply_add
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray

BLOCK = 16
_PAIRS = 8

_single = np.float32


def normal_from_pairs(first: float, second: float) -> tuple[float, float]:
    """Two normal numbers from two uniform ones."""
    radius = math.sqrt(-2 * math.log1p(-second))
    angle = 2 * math.pi * first
    return radius * math.cos(angle), radius * math.sin(angle)


def transform_blocks(uniform: Array, mean: float, std: float) -> None:
    """Replaces uniform numbers, whole blocks of 16 of float32 or float64, by normal ones."""
    radius_of, point_of = (radii, points) if uniform.dtype == np.float32 else (_wide_radii, _wide_points)
    blocks = uniform.reshape(-1, BLOCK)
    combine(blocks, radius_of(blocks[:, :_PAIRS]), point_of(blocks[:, _PAIRS:]), mean, std)


def combine(blocks: Array, radius: Array, point: tuple[Array, Array], mean: float, std: float) -> None:
    """Writes blocks of normal numbers, whose first halves are from the cosines and whose second from the sines."""
    np.multiply(radius, point[0], out=blocks[:, :_PAIRS])
    np.multiply(radius, point[1], out=blocks[:, _PAIRS:])
    scale_into(blocks, blocks, mean, std)


def scale_into(target: Array, numbers: Array, mean: float, std: float) -> None:
    """Writes standard normal numbers with another mean and deviation; `target` can be the numbers."""
    if std == 1:
        np.add(numbers, kept_constant(mean, numbers.dtype), target)
    else:
        number = numbers.dtype.type
        target[...] = fused_multiply_add(numbers, number(std), number(mean))


def _wide_radii(uniform: Array) -> Array:
    return np.sqrt(-2 * np.log(1 - uniform))


def _wide_points(uniform: Array) -> tuple[Array, Array]:
    angle = 2 * math.pi * uniform
    return np.cos(angle), np.sin(angle)


# -------------------- float32 --------------------


def radii(uniform: Array) -> Array:
    """The distance from 0 of the point that a uniform number of float32 stands for."""
    return np.sqrt(_single(-2) * _log(_single(1) - uniform))


def points(uniform: Array) -> tuple[Array, Array]:
    """The cosine and the sine of the angle that a uniform number of float32 stands for."""
    return _cosine_sine(_single(2 * math.pi) * uniform)


def _round(values: Array, single: Array) -> Array:
    """Rounds float64 numbers to float32 ones in place; `single` is scratch memory of float32."""
    np.copyto(single, values, casting="unsafe")
    np.copyto(values, single)
    return values


def _fused(x: Array, y: Array | float, z: Array | float, single: Array) -> Array:
    """x * y + z, written to `x`."""
    np.multiply(x, y, out=x)
    np.add(x, z, out=x)
    return _round(x, single)


def _polynomial(x: Array, coefficients: tuple[float, ...], single: Array) -> Array:
    value = x * coefficients[0]
    value += coefficients[1]
    _round(value, single)
    for coefficient in coefficients[2:]:
        _fused(value, x, coefficient, single)
    return value


def _singles(*numbers: float) -> tuple[float, ...]:
    """Numbers rounded to float32."""
    return tuple([float(_single(number)) for number in numbers])


_SQRT_HALF_BITS = _single(0.707106781186547524).view(np.int32)
_MANTISSA_BITS = 23
_EXPONENT_STEP = np.int32(1 << _MANTISSA_BITS)
_LN2_HIGH, _LN2_LOW = _singles(0.693359375, -2.12194440e-4)  # their sum is ln 2
_LOG = _singles(
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)


def _log(x: Array) -> Array:
    """The natural logarithm of normal numbers: x = m * 2**e with m around 1, then a polynomial in m - 1."""
    bits = x.view(np.int32)
    exponent = (bits - _SQRT_HALF_BITS) >> _MANTISSA_BITS
    mantissa = (bits - exponent * _EXPONENT_STEP).view(np.float32)
    power, single = exponent.astype(np.float64), np.empty_like(x)
    x = mantissa.astype(np.float64)
    x -= 1
    square = _round(x * x, single)
    value = _polynomial(x, _LOG, single)
    value *= x
    _fused(_round(value, single), square, _round(power * _LN2_LOW, single), single)
    square *= -0.5
    value += square
    _round(value, single)
    value += x
    _round(value, single)
    power *= _LN2_HIGH
    power += value
    return power.astype(np.float32)


_FOUR_OVER_PI = _single(1.27323954473516)
_MINUS_QUARTER_PI = _singles(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_SINE = _singles(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COSINE = _singles(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIGN = np.int32(1 << 29)  # times the bit that counts half turns, 4: the sign bit


def _cosine_sine(angle: Array) -> tuple[Array, Array]:
    """Cosine and sine of angles that are not negative: polynomials in the distance to an even multiple of pi/4."""
    octant = (angle * _FOUR_OVER_PI).astype(np.int32)
    octant += 1
    octant &= ~1
    single = np.empty_like(angle)
    x = _distance(angle, octant, single)
    square = _round(x * x, single)
    value = _polynomial(square, _COSINE, single)
    value *= square
    _fused(_round(value, single), square, square * -0.5, single)
    value += 1
    cosine = value.astype(np.float32)
    value = _polynomial(square, _SINE, single)
    value *= square
    _fused(_round(value, single), x, x, single)
    return _turned(cosine, value.astype(np.float32), octant)


def _distance(angle: Array, octant: Array, single: Array) -> Array:
    """The angle less a multiple of pi/4, which is subtracted in three parts, as float64."""
    x, multiple = angle.astype(np.float64), octant.astype(np.float64)
    for part in _MINUS_QUARTER_PI:
        x += multiple * part
        _round(x, single)
    return x


def _turned(cosine: Array, sine: Array, octant: Array) -> tuple[Array, Array]:
    """Cosine and sine of an angle from those of its distance to a multiple of pi/4, which a quarter turn swaps."""
    cosine_bits, sine_bits = cosine.view(np.int32), sine.view(np.int32)
    differing = (cosine_bits ^ sine_bits) & -((octant & 2) >> 1)
    cosine_bits ^= differing
    sine_bits ^= differing
    sine_bits ^= (octant & 4) * _SIGN
    cosine_bits ^= ((octant + 2) & 4) * _SIGN
    return cosine, sine
