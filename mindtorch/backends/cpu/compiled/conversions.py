"""Conversions between float32 and numbers of 16 bits, on the bits of `values`, rounded to the nearest, ties to even.

They are integer arithmetic, because not every CPU has instructions for them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Conversion(NamedTuple):
    """`function(bits)`: the bits of the result, in 32 bits, of those of the operand."""

    function: Callable[[Any], Any]
    widens: bool


_SHIFT = 13  # how many bits of the mantissa a float16 lacks
_INFINITE = 0x7F800000
_BIAS = 126 << 10  # of the exponent of the sum, less one because the mantissa has its first bit


def float16_to_float32(bits: Any) -> Any:
    """A product widens all finite numbers, as their bits are those of a float32 that is 2**-112 of it."""
    sign, size = (bits & 0x8000) << 16, (bits & 0x7FFF) << _SHIFT
    number = size.as_number()
    return (number < 2.0**-96).choose_bits((number * 2.0**112).bits(), size | _INFINITE) | sign


def float32_to_float16(bits: Any) -> Any:
    """A number is rounded where it is added to a power of two of which the last place is its own as a float16."""
    sign, size = (bits >> 16) & 0x8000, bits & 0x7FFFFFFF
    number = size.as_number()
    limited = (number < 65536.0).choose(number, 65536.0)
    power = ((limited < 2.0**-14).choose(2.0**-14, limited).bits() & _INFINITE) + (_SHIFT << 23)
    rounded = ((limited + power.as_number()).bits() + (power >> _SHIFT) - _BIAS) & 0x7FFF
    nan = ((size >> _SHIFT) & 0x3FF) | 0x7E00
    return (number != number).choose_bits(nan, rounded) | sign


def bfloat16_to_float32(bits: Any) -> Any:
    return bits << 16


def float32_to_bfloat16(bits: Any) -> Any:
    number = bits.as_number()
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    nan = (bits & -0x80000000) | 0x7FC00000
    return (number != number).choose_bits(nan, rounded) >> 16


CONVERSIONS = {
    "float16_to_float32": Conversion(float16_to_float32, True),
    "float32_to_float16": Conversion(float32_to_float16, False),
    "bfloat16_to_float32": Conversion(bfloat16_to_float32, True),
    "float32_to_bfloat16": Conversion(float32_to_bfloat16, False),
}
