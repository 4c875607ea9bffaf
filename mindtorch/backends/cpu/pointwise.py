"""Kernels of the pointwise ops: which computation for which dtype, and the arguments that are not operands."""

from dataclasses import replace
from typing import Any

import numpy as np

from mindtorch.backends.cpu import activations, arithmetic
from mindtorch.backends.cpu.choosing import (
    addcdiv,
    addcmul,
    clamp,
    clamp_max,
    clamp_min,
    lerp,
    masked_fill,
    maximum,
    minimum,
    where,
)
from mindtorch.backends.cpu.elementwise import (
    ALL,
    COMPLEX,
    FLOATS,
    NUMBERS,
    REAL_NUMBERS,
    Op,
    binary,
    binary_with_alpha,
    compute,
    constant,
    loops,
    unary,
)
from mindtorch.backends.cpu.numbers import checked_number
from mindtorch.backends.cpu.refusals import (
    BOOL_NEGATED,
    BOOL_SUBTRACTED,
    INTEGRAL_OR_BOOL,
    ONLY_FLOATING,
    ONLY_INTEGRAL,
    TWO_BOOLS_SUBTRACTED,
    no_complex,
    not_implemented,
    refused,
)
from mindtorch.iterator import needs_resize
from mindtorch.promotion import (
    BFLOAT16,
    BOOL,
    HALF,
    INTEGRAL,
    common_dtype,
    int_to_float,
    is_integral,
    real_of,
    to_bool,
)

__all__ = [
    "addcdiv",
    "addcmul",
    "clamp",
    "clamp_max",
    "clamp_min",
    "lerp",
    "masked_fill",
    "maximum",
    "minimum",
    "where",
]

Array = np.ndarray
Number = complex

REAL = (BOOL, *REAL_NUMBERS)
INTEGERS = (BOOL, *INTEGRAL)


# -------------------- sums and differences --------------------

_subtract = binary(Op(loops(np.subtract, NUMBERS)))
_subtract_from_number = binary(Op(loops(arithmetic.subtract_reversed, NUMBERS)))
_ADD_SCALED = Op(loops(arithmetic.add_scaled))
_SUBTRACT_SCALED = Op(loops(arithmetic.subtract_scaled, NUMBERS))


def _add_with_alpha(input: Array, other: Array | Number, alpha: Number, out: Array | None) -> Array:
    if _is_one(alpha, input, other):
        return add(input, other, 1, out)
    return compute(_ADD_SCALED, (input, other), out, _rounded(alpha, input, other))


add = binary_with_alpha(Op(loops(np.add)), _add_with_alpha)


def sub(input: Array, other: Array | Number, alpha: Number = 1, out: Array | None = None) -> Array:
    _check_subtraction(input, other)
    if alpha == 1 and type(alpha) is int or _is_one(alpha, input, other):
        return _subtract(input, other, out)
    return compute(_SUBTRACT_SCALED, (input, other), out, _rounded(alpha, input, other))


def rsub(input: Array, other: Array | Number, alpha: Number = 1) -> Array:
    _check_subtraction(input, other)
    if _is_one(alpha, input, other) and not isinstance(other, Array):
        return _subtract_from_number(input, other)
    return compute(_SUBTRACT_SCALED, (other, input), None, _rounded(alpha, other, input))


def _is_one(alpha: Number, input: Array, other: Array | Number) -> bool:
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


def _rounded(alpha: Number, input: Array | Number, other: Array | Number) -> Number:
    """The factor as float16 and bfloat16 hold it, though the product is computed in float32."""
    dtype = common_dtype(input, other)
    return constant(alpha, dtype).item() if dtype in (HALF, BFLOAT16) else alpha


def _check_subtraction(input: Array, other: Array | Number) -> None:
    input_is_bool = getattr(input, "dtype", None) == BOOL
    other_is_bool = other.dtype == BOOL if isinstance(other, Array) else isinstance(other, bool)
    if input_is_bool or other_is_bool:
        raise RuntimeError(TWO_BOOLS_SUBTRACTED if input_is_bool and other_is_bool else BOOL_SUBTRACTED)


# -------------------- products and quotients --------------------

mul = binary(Op(loops(np.multiply), exact_numbers=True))
_DIV = Op(loops(np.divide, (*FLOATS, *COMPLEX)), int_to_float, exact_numbers=True)
div = binary(_DIV)
_DIV_FLOOR = Op(
    loops(arithmetic.divide_integers_down, INTEGRAL) | loops(np.floor_divide, FLOATS),
    refusals=not_implemented("div_floor_cpu", BOOL, *COMPLEX),
    exact_numbers=True,
)
_DIV_TRUNC = Op(
    loops(arithmetic.divide_integers_to_zero, INTEGRAL) | loops(arithmetic.divide_to_zero, FLOATS),
    refusals=not_implemented("div_trunc_cpu", BOOL, *COMPLEX),
    exact_numbers=True,
)
_DIV_BY_MODE = {None: _DIV, "floor": _DIV_FLOOR, "trunc": _DIV_TRUNC}
floor_divide = binary(_DIV_FLOOR)
remainder = binary(
    Op(
        loops(arithmetic.remainder_of_integers, INTEGRAL) | loops(arithmetic.remainder_of_floats, FLOATS),
        refusals=not_implemented("remainder_cpu", BOOL, *COMPLEX),
    )
)


def div_mode(input: Array, other: Array | Number, rounding_mode: str | None, out: Array | None = None) -> Array:
    if rounding_mode not in _DIV_BY_MODE:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return compute(_DIV_BY_MODE[rounding_mode], (input, other), out)


# -------------------- powers --------------------

_FLOAT_OR_COMPLEX = (*FLOATS, *COMPLEX)
_POW = Op(
    loops(arithmetic.power_of_integers, INTEGRAL) | loops(np.power, _FLOAT_OR_COMPLEX),
    refusals=not_implemented("pow", BOOL),
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
# What is true for all dtypes. The exponent still takes part in promotion.
_FIRST_POWERS = {
    exponent: Op(loops(function), plain_numbers=True)
    for exponent, function in ((0, arithmetic.ones), (1, arithmetic.first_power))
}


def pow(input: Array | Number, exponent: Array | Number, out: Array | None = None) -> Array:
    if not isinstance(input, Array):
        return _power_of_number(input, exponent, out)
    if isinstance(exponent, Array):
        return compute(_POW, (input, exponent), out)
    keeps_dtype = input.dtype in _FLOAT_OR_COMPLEX and (out is None or out.dtype == input.dtype)
    if keeps_dtype and exponent in _POWERS and not isinstance(exponent, complex):
        return _POWERS[exponent](input, out)
    dtype = common_dtype(input, exponent)
    if dtype in INTEGRAL and exponent.real < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if exponent in _FIRST_POWERS:
        return compute(_FIRST_POWERS[exponent], (input, exponent), out)
    checked_number(exponent, dtype)
    return compute(_POW_BY_NUMBER, (input, exponent), out)


def _power_of_number(base: Number, exponent: Array, out: Array | None) -> Array:
    """The result is row-major whatever the exponent's strides are. Powers of 1 are 1 in any dtype of `out`."""
    is_one = base == 1 and not isinstance(base, bool)
    if out is None:
        out = np.empty(exponent.shape, common_dtype(base, exponent))
    elif is_one:
        out = _row_major(out, exponent.shape)
    if is_one:
        out[...] = 1
        return out
    return compute(_POW, (base, exponent), out)


def _row_major(out: Array, shape: tuple[int, ...]) -> Array:
    """`out`, or a row-major array of its dtype when it has another shape."""
    return np.empty(shape, out.dtype) if needs_resize(out, shape) else out


_RECIPROCALS = loops(arithmetic.reciprocal, _FLOAT_OR_COMPLEX)
sqrt = unary(Op(loops(np.sqrt, _FLOAT_OR_COMPLEX), int_to_float))
rsqrt = unary(Op(loops(arithmetic.reciprocal_sqrt, _FLOAT_OR_COMPLEX), int_to_float))
reciprocal = unary(Op(_RECIPROCALS, int_to_float))


# -------------------- signs and parts --------------------

_UNCHANGED = loops(arithmetic.copy, INTEGRAL)

neg = unary(Op(loops(arithmetic.negative, NUMBERS), refusals=refused(RuntimeError, BOOL_NEGATED, BOOL)))
_abs = unary(Op(loops(np.absolute, REAL_NUMBERS), refusals=not_implemented("abs_cpu", BOOL)))
_abs_of_complex = unary(Op(loops(np.absolute, COMPLEX), result_dtype=real_of))
_SIGN_OF_REAL = loops(arithmetic.copy, (BOOL,)) | loops(np.sign, INTEGRAL) | loops(arithmetic.sign, FLOATS)
sign = unary(
    Op(
        _SIGN_OF_REAL,
        refusals=refused(
            NotImplementedError,
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
            *COMPLEX,
        ),
    )
)
sgn = unary(Op(_SIGN_OF_REAL | loops(arithmetic.sign_of_complex, COMPLEX)))
_angle = unary(
    Op(
        loops(arithmetic.angle, FLOATS) | loops(arithmetic.angle_of_complex, COMPLEX),
        int_to_float,
        result_dtype=real_of,
    )
)
conj_physical = unary(Op(loops(arithmetic.copy, REAL) | loops(np.conjugate, COMPLEX)))


def angle(input: Array, out: Array | None = None) -> Array:
    """The angles of complex numbers come row-major whatever the strides of the numbers are."""
    if input.dtype in COMPLEX:
        out = np.empty(input.shape, real_of(input.dtype)) if out is None else _row_major(out, input.shape)
    return _angle(input, out)


def abs(input: Array, out: Array | None = None) -> Array:
    if input.dtype not in COMPLEX:
        return _abs(input, out)
    if out is input:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _abs_of_complex(input, None if out is None else _row_major(out, input.shape))


# -------------------- functions of real and complex numbers --------------------


def _analytic(function: Any) -> Any:
    """A kernel of a function that integers are made floating-point for."""
    return unary(Op(loops(function, _FLOAT_OR_COMPLEX), int_to_float))


exp = _analytic(np.exp)
expm1 = _analytic(np.expm1)
log = _analytic(np.log)
log2 = _analytic(np.log2)
log1p = _analytic(np.log1p)
sin = _analytic(np.sin)
cos = _analytic(np.cos)
tan = _analytic(np.tan)
tanh = _analytic(np.tanh)
sigmoid = unary(Op(loops(activations.sigmoid, FLOATS) | loops(activations.sigmoid_of_complex, COMPLEX), int_to_float))
atan2 = binary(Op(loops(np.arctan2, FLOATS), int_to_float, refusals=not_implemented("atan2_cpu", *COMPLEX)))

_ONLY_FLOATS = INTEGRAL_OR_BOOL
_TANH_BACKWARD = Op(
    loops(activations.tanh_backward, _FLOAT_OR_COMPLEX),
    refusals=not_implemented("tanh_backward_cpu", *_ONLY_FLOATS),
)
_SIGMOID_BACKWARD = Op(
    loops(activations.sigmoid_backward, _FLOAT_OR_COMPLEX),
    refusals=not_implemented("sigmoid_backward_cpu", *_ONLY_FLOATS),
)


def tanh_backward(grad_output: Array, output: Array, out: Array | None = None) -> Array:
    return compute(_TANH_BACKWARD, (grad_output, output), out)


def sigmoid_backward(grad_output: Array, output: Array, out: Array | None = None) -> Array:
    return compute(_SIGMOID_BACKWARD, (grad_output, output), out)


# -------------------- rounding --------------------


def _rounding(function: Any, name: str, refusals: dict[Any, Any]) -> Any:
    refusals = not_implemented(f"{name}_vml_cpu", BOOL, *COMPLEX) | refusals
    return unary(Op(_UNCHANGED | loops(function, FLOATS), refusals=refusals))


floor = _rounding(np.floor, "floor", no_complex("floor"))
ceil = _rounding(np.ceil, "ceil", no_complex("ceil"))
trunc = _rounding(np.trunc, "trunc", no_complex("trunc"))
round = _rounding(np.rint, "round", {})
_ROUND_DECIMALS = Op(loops(arithmetic.round_decimals, FLOATS), refusals=not_implemented("round_cpu", *ONLY_FLOATING))
_ROUND_TO_INTEGERS = Op(
    loops(arithmetic.round_decimals, FLOATS), refusals=not_implemented("round_vml_cpu", *ONLY_FLOATING)
)


def round_decimals(input: Array, decimals: int, out: Array | None = None) -> Array:
    return compute(_ROUND_DECIMALS if decimals else _ROUND_TO_INTEGERS, (input,), out, decimals)


# -------------------- activation functions --------------------

relu = unary(
    Op(
        loops(arithmetic.relu, REAL_NUMBERS),
        refusals=refused(RuntimeError, "Boolean inputs not supported for relu", BOOL)
        | refused(NotImplementedError, "clamp is not supported for complex types", *COMPLEX),
    )
)
_THRESHOLD_BACKWARD = Op(
    loops(arithmetic.threshold_backward, REAL_NUMBERS), refusals=not_implemented("threshold_cpu", BOOL, *COMPLEX)
)
_LEAKY_RELU = Op(loops(arithmetic.leaky_relu, FLOATS), refusals=not_implemented("leaky_relu_cpu", *ONLY_FLOATING))
_LEAKY_RELU_BACKWARD = Op(
    loops(arithmetic.leaky_relu_backward, FLOATS),
    refusals=not_implemented("leaky_relu_backward_cpu", *ONLY_FLOATING),
)


def threshold_backward(grad_output: Array, input: Array, threshold: Number, out: Array | None = None) -> Array:
    return compute(_THRESHOLD_BACKWARD, (input, grad_output), out, threshold)


def leaky_relu(input: Array, negative_slope: Number = 0.01, out: Array | None = None) -> Array:
    return compute(_LEAKY_RELU, (input,), out, negative_slope)


def leaky_relu_backward(
    grad_output: Array, input: Array, negative_slope: float, self_is_result: bool, out: Array | None = None
) -> Array:
    if self_is_result and negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This "
            "is caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
            "leakRelu backward calculation with negative slope"
        )
    return compute(_LEAKY_RELU_BACKWARD, (input, grad_output), out, negative_slope)


_NO_GELU = not_implemented("GeluKernelImpl", *ONLY_FLOATING)
_NO_GELU_BACKWARD = not_implemented("GeluBackwardKernelImpl", *ONLY_FLOATING)
_GELU = unary(Op(loops(activations.gelu, FLOATS), refusals=_NO_GELU))
_GELU_TANH = unary(Op(loops(activations.gelu_tanh, FLOATS), refusals=_NO_GELU))
_GELU_BACKWARD = Op(loops(activations.gelu_backward, FLOATS), refusals=_NO_GELU_BACKWARD)
_GELU_TANH_BACKWARD = Op(loops(activations.gelu_tanh_backward, FLOATS), refusals=_NO_GELU_BACKWARD)


def gelu(input: Array, approximate: str = "none", out: Array | None = None) -> Array:
    return activations.by_name(approximate, _GELU, _GELU_TANH)(input, out)


def gelu_backward(grad_output: Array, input: Array, approximate: str = "none", out: Array | None = None) -> Array:
    op = activations.by_name(approximate, _GELU_BACKWARD, _GELU_TANH_BACKWARD)
    return compute(op, (grad_output, input), out)


silu = unary(
    Op(
        loops(activations.silu, _FLOAT_OR_COMPLEX),
        refusals=not_implemented("silu_cpu", *_ONLY_FLOATS),
    )
)
_SILU_BACKWARD = Op(
    loops(activations.silu_backward, _FLOAT_OR_COMPLEX),
    refusals=not_implemented("silu_backward_cpu", *_ONLY_FLOATS),
)
_SOFTPLUS = Op(loops(activations.softplus, FLOATS), refusals=not_implemented("softplus_cpu", *ONLY_FLOATING))
_SOFTPLUS_BACKWARD = Op(
    loops(activations.softplus_backward, FLOATS), refusals=not_implemented("softplus_backward_cpu", *ONLY_FLOATING)
)


def silu_backward(grad_output: Array, input: Array, out: Array | None = None) -> Array:
    return compute(_SILU_BACKWARD, (grad_output, input), out)


def softplus(input: Array, beta: float = 1, threshold: float = 20, out: Array | None = None) -> Array:
    return compute(_SOFTPLUS, (input,), out, beta, threshold)


def softplus_backward(
    grad_output: Array, input: Array, beta: float, threshold: float, out: Array | None = None
) -> Array:
    return compute(_SOFTPLUS_BACKWARD, (grad_output, input), out, beta, threshold)


# -------------------- comparisons and truth --------------------


def _comparison(function: Any, name: str, supported: Any = ALL) -> Any:
    return binary(Op(loops(function, supported), result_dtype=to_bool, refusals=_no_order(name, supported)))


def _no_order(name: str, supported: Any) -> dict[Any, Any]:
    return {} if supported is ALL else not_implemented(f"{name}_cpu", *COMPLEX)


eq = _comparison(np.equal, "eq")
ne = _comparison(np.not_equal, "ne")
lt = _comparison(np.less, "lt", REAL)
le = _comparison(np.less_equal, "le", REAL)
gt = _comparison(np.greater, "gt", REAL)
ge = _comparison(np.greater_equal, "ge", REAL)


def _predicate(function: Any, factory: Any = unary) -> Any:
    return factory(Op(loops(function), result_dtype=to_bool))


logical_not = _predicate(np.logical_not)
logical_and = _predicate(np.logical_and, binary)
logical_or = _predicate(np.logical_or, binary)
logical_xor = _predicate(np.logical_xor, binary)
isnan = _predicate(np.isnan)
isinf = _predicate(np.isinf)
isfinite = _predicate(np.isfinite)


def _bitwise(function: Any, name: str, factory: Any = binary) -> Any:
    return factory(Op(loops(function, INTEGERS), refusals=not_implemented(f"{name}_cpu", *ONLY_INTEGRAL)))


bitwise_not = _bitwise(np.bitwise_not, "bitwise_not", unary)
bitwise_and = _bitwise(np.bitwise_and, "bitwise_and")
bitwise_or = _bitwise(np.bitwise_or, "bitwise_or")
bitwise_xor = _bitwise(np.bitwise_xor, "bitwise_xor")
