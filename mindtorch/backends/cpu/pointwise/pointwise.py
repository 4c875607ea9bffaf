"""Kernels of the pointwise ops: which computation for which dtype, and the arguments that are not operands."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import BFLOAT16, BOOL, COMPLEX, HALF, INTEGRAL, int_to_float, real_of, to_bool
from mindtorch._core.strided import empty_like
from mindtorch.backends.cpu.common import activations, arithmetic, halves
from mindtorch.backends.cpu.common.casting import row_major
from mindtorch.backends.cpu.common.computing import ALL, FLOATS, REAL_NUMBERS, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import binary, is_plain, unary
from mindtorch.backends.cpu.common.refusals import (
    BOOL_NEGATED,
    INTEGRAL_OR_BOOL,
    ONLY_FLOATING,
    ONLY_INTEGRAL,
    no_complex,
    not_implemented,
    refused,
)
from mindtorch.backends.cpu.compiled.choice import compiled

Array = np.ndarray
Number = complex

_FLOAT_OR_COMPLEX = (*FLOATS, *COMPLEX)

REAL = (BOOL, *REAL_NUMBERS)
INTEGERS = (BOOL, *INTEGRAL)


# -------------------- signs and parts --------------------

_UNCHANGED = loops(arithmetic.copy, INTEGRAL)

neg = unary(
    Op(
        loops(arithmetic.negative, REAL_NUMBERS)
        | loops(arithmetic.negative_of_complex, COMPLEX)
        | loops(halves.negative, (HALF, BFLOAT16)),
        refusals=refused(RuntimeError, BOOL_NEGATED, BOOL),
    )
)
_abs = unary(
    Op(
        loops(np.absolute, REAL_NUMBERS) | loops(halves.absolute, (HALF, BFLOAT16)),
        refusals=not_implemented("abs_cpu", BOOL),
    )
)
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
        out = np.empty(input.shape, real_of(input.dtype)) if out is None else row_major(out, input.shape)
    return _angle(input, out)


def abs(input: Array, out: Array | None = None) -> Array:
    if input.dtype not in COMPLEX:
        return _abs(input, out)
    if out is input:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    if out is None:
        return _abs_of_complex(input, None if is_plain(input) else empty_like(input, real_of(input.dtype)))
    return _abs_of_complex(input, row_major(out, input.shape))


# -------------------- functions of real and complex numbers --------------------


def _analytic(function: Any) -> Any:
    """A kernel of a function that integers are made floating-point for."""
    return unary(Op(loops(function, _FLOAT_OR_COMPLEX), int_to_float))


exp = _analytic(np.exp)
expm1 = _analytic(np.expm1)
exp2 = _analytic(np.exp2)
log = _analytic(np.log)
log2 = _analytic(np.log2)
log10 = _analytic(np.log10)
log1p = unary(Op(loops(np.log1p, FLOATS) | loops(arithmetic.log1p_of_complex, COMPLEX), int_to_float))
sin = _analytic(np.sin)
cos = _analytic(np.cos)
tan = _analytic(np.tan)
asin = _analytic(np.arcsin)
acos = _analytic(np.arccos)
atan = _analytic(np.arctan)
sinh = _analytic(np.sinh)
cosh = _analytic(np.cosh)
tanh = _analytic(np.tanh)
asinh = _analytic(np.arcsinh)
acosh = _analytic(np.arccosh)
atanh = _analytic(np.arctanh)
sigmoid = unary(
    Op(
        compiled("sigmoid", loops(activations.sigmoid, FLOATS)) | loops(activations.sigmoid_of_complex, COMPLEX),
        int_to_float,
    )
)
atan2 = binary(Op(loops(np.arctan2, FLOATS), int_to_float, refusals=not_implemented("atan2_cpu", *COMPLEX)))

_TANH_BACKWARD = Op(
    compiled("tanh_backward", loops(activations.tanh_backward, _FLOAT_OR_COMPLEX)),
    refusals=not_implemented("tanh_backward_cpu", *INTEGRAL_OR_BOOL),
)
_SIGMOID_BACKWARD = Op(
    compiled("sigmoid_backward", loops(activations.sigmoid_backward, _FLOAT_OR_COMPLEX)),
    refusals=not_implemented("sigmoid_backward_cpu", *INTEGRAL_OR_BOOL),
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
