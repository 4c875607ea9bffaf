"""Kernels of sums, products and powers: those of the operators, and of what is computed from them."""

from dataclasses import replace

import numpy as np

from mindtorch._core.promotion import (
    BFLOAT16,
    BOOL,
    COMPLEX,
    FLOAT,
    HALF,
    INTEGRAL,
    common_dtype,
    int_to_float,
)
from mindtorch.backends.cpu.common import arithmetic, paired
from mindtorch.backends.cpu.common.casting import row_major
from mindtorch.backends.cpu.common.computing import ALL_AND_UNSIGNED, FLOATS, NUMBERS, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import binary, binary_with_alpha, unary
from mindtorch.backends.cpu.common.numbers import checked_number, is_one
from mindtorch.backends.cpu.common.unsupported_dtypes import BOOL_SUBTRACTED, TWO_BOOLS_SUBTRACTED, not_implemented
from mindtorch.backends.cpu.compiled.choice import compiled
from mindtorch.iterator.constants import constant

Array = np.ndarray
Number = complex

_FLOAT_OR_COMPLEX = (*FLOATS, *COMPLEX)


# -------------------- sums and differences --------------------

_subtract = binary(Op(loops(np.subtract, NUMBERS)))
_subtract_from_number = binary(Op(loops(arithmetic.subtract_reversed, NUMBERS)))
_ADD_SCALED = Op(loops(arithmetic.add_scaled))
_SUBTRACT_SCALED = Op(loops(arithmetic.subtract_scaled, NUMBERS))


def _add_with_alpha(input: Array, other: Array | Number, alpha: Number, out: Array | None) -> Array:
    if is_one(alpha, input, other):
        return add(input, other, 1, out)
    checked_number(alpha, common_dtype(input, other))
    return compute(_ADD_SCALED, (input, other), out, _rounded(alpha, input, other))


add = binary_with_alpha(Op(loops(np.add)), _add_with_alpha)


def sub(input: Array, other: Array | Number, alpha: Number = 1, out: Array | None = None) -> Array:
    _check_subtraction(input, other)
    if alpha == 1 and type(alpha) is int or is_one(alpha, input, other):
        return _subtract(input, other, out)
    return _subtract_scaled(input, other, alpha, out)


def _subtract_scaled(input: Array | Number, other: Array | Number, alpha: Number, out: Array | None = None) -> Array:
    checked_number(-alpha, common_dtype(input, other))  # to torch, it is a sum
    return compute(_SUBTRACT_SCALED, (input, other), out, _rounded(alpha, input, other))


def rsub(input: Array, other: Array | Number, alpha: Number = 1) -> Array:
    _check_subtraction(input, other)
    if is_one(alpha, input, other) and not isinstance(other, Array):
        return _subtract_from_number(input, other)
    return _subtract_scaled(other, input, alpha)


def _rounded(alpha: Number, input: Array | Number, other: Array | Number) -> Number:
    """The factor as float16 and bfloat16 hold it, though the product is computed in float32."""
    dtype = common_dtype(input, other)
    return constant(alpha, dtype).item() if dtype in (HALF, BFLOAT16) else alpha


def _check_subtraction(input: Array, other: Array | Number) -> None:
    input_is_bool = input.dtype == BOOL if isinstance(input, Array) else isinstance(input, bool)
    other_is_bool = other.dtype == BOOL if isinstance(other, Array) else isinstance(other, bool)
    if input_is_bool or other_is_bool:
        raise RuntimeError(TWO_BOOLS_SUBTRACTED if input_is_bool and other_is_bool else BOOL_SUBTRACTED)


# -------------------- products and quotients --------------------

mul = binary(Op(loops(np.multiply, ALL_AND_UNSIGNED), exact_numbers=True))
_DIV = Op(loops(np.divide, (*FLOATS, *COMPLEX)), int_to_float, exact_numbers=True)
div = binary(_DIV)
_DIV_FLOOR = Op(
    loops(arithmetic.divide_integers_down, INTEGRAL) | loops(paired.floor_divide, FLOATS),
    unsupported=not_implemented("div_floor_cpu", BOOL, *COMPLEX),
    exact_numbers=True,
)
_DIV_TRUNC = Op(  # of 16-bit floats, torch rounds the quotient before it is cut
    loops(arithmetic.divide_integers_to_zero, INTEGRAL) | loops(arithmetic.divide_to_zero, (*FLOATS, HALF, BFLOAT16)),
    unsupported=not_implemented("div_trunc_cpu", BOOL, *COMPLEX),
    exact_numbers=True,
)
_DIV_BY_MODE = {None: _DIV, "floor": _DIV_FLOOR, "trunc": _DIV_TRUNC}
floor_divide = binary(_DIV_FLOOR)
remainder = binary(
    Op(
        loops(arithmetic.remainder_of_integers, INTEGRAL) | loops(paired.remainder, FLOATS),
        unsupported=not_implemented("remainder_cpu", BOOL, *COMPLEX),
    )
)


def div_mode(input: Array, other: Array | Number, rounding_mode: str | None, out: Array | None = None) -> Array:
    if rounding_mode not in _DIV_BY_MODE:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return compute(_DIV_BY_MODE[rounding_mode], (input, other), out)


# -------------------- powers --------------------

_POW = Op(
    loops(arithmetic.power_of_integers, INTEGRAL)
    | loops(arithmetic.power, FLOATS)
    | loops(arithmetic.complex_power, COMPLEX),
    unsupported=not_implemented("pow", BOOL),
)
_POW_BY_NUMBER = replace(_POW, plain_numbers=True)
# Exponents for which there is something better than the general power, in floating point.
_POWERS = {
    exponent: unary(Op(loops(function, _FLOAT_OR_COMPLEX)))
    for exponent, function in {
        0.5: np.sqrt,
        2: np.square,
        3: arithmetic.cube,
        -0.5: arithmetic.reciprocal_sqrt,
        -1: arithmetic.reciprocal,
        -2: arithmetic.reciprocal_square,
    }.items()
}
# In bfloat16, torch rounds after every step. In float16 it takes roots as powers: that of -inf is inf.
_FROM_SQUARES = {3: mul, -2: lambda square, input, out: reciprocal(square, out)}
# What is true for all dtypes. The exponent still takes part in promotion.
_FIRST_POWERS = {
    exponent: Op(loops(function), plain_numbers=True)
    for exponent, function in ((0, arithmetic.ones), (1, arithmetic.first_power))
}


def pow(input: Array | Number, exponent: Array | Number, out: Array | None = None) -> Array:
    if not isinstance(input, Array):
        return _power_of_number(input, exponent, out)
    if hasattr(exponent, "ndim"):
        return compute(_POW, (input, exponent), out)
    keeps_dtype = input.dtype in COMPLEX or not isinstance(exponent, complex)
    if exponent in _POWERS and keeps_dtype and (out is None or out.dtype == input.dtype):
        if input.dtype in _FLOAT_OR_COMPLEX or (input.dtype == HALF and abs(exponent) != 0.5):
            return _POWERS[exponent](input, out)
        if input.dtype == BFLOAT16:
            from_square = _FROM_SQUARES.get(exponent)
            return from_square(_POWERS[2](input), input, out) if from_square else _POWERS[exponent](input, out)
        if input.dtype == HALF:  # a number would be a root to NumPy
            return compute(_POW, (input, np.full_like(input, exponent)), out)
    dtype = common_dtype(input, exponent)
    if dtype in INTEGRAL and exponent.real < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if exponent in _FIRST_POWERS:
        return compute(_FIRST_POWERS[exponent], (input, exponent), out)
    if dtype != FLOAT or isinstance(exponent, complex):  # of real float32 numbers, the exponent is in double precision
        checked_number(exponent, dtype)
    return compute(_POW_BY_NUMBER, (input, exponent), out)


def _power_of_number(base: Number, exponent: Array, out: Array | None) -> Array:
    """The result is row-major whatever the exponent's strides are. Powers of 1 are 1 in any dtype of `out`."""
    is_one = base == 1 and not isinstance(base, bool)
    if out is None:
        out = np.empty(exponent.shape, common_dtype(base, exponent))
    elif is_one:
        out = row_major(out, exponent.shape)
    if is_one:
        out[...] = 1
        return out
    return compute(_POW, (base, exponent), out)


_RECIPROCALS = loops(arithmetic.reciprocal, _FLOAT_OR_COMPLEX)
sqrt = unary(Op(loops(np.sqrt, _FLOAT_OR_COMPLEX), int_to_float))
rsqrt = unary(Op(compiled("rsqrt", loops(arithmetic.reciprocal_sqrt, _FLOAT_OR_COMPLEX)), int_to_float))
reciprocal = unary(Op(_RECIPROCALS, int_to_float))
