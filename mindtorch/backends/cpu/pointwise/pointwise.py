"""Kernels of functions of real and complex numbers: which computation for which dtype."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import BOOL, COMPLEX, INTEGRAL, UNSIGNED, int_to_float, real_of
from mindtorch.backends.cpu.common import activations, arithmetic
from mindtorch.backends.cpu.common.casting import row_major
from mindtorch.backends.cpu.common.computing import FLOATS, REAL_NUMBERS, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import binary, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    INTEGRAL_OR_BOOL,
    ONLY_FLOATING,
    no_complex,
    not_implemented,
)
from mindtorch.backends.cpu.compiled.choice import compiled

Array = np.ndarray
_FLOAT_OR_COMPLEX = (*FLOATS, *COMPLEX)
REAL = (BOOL, *REAL_NUMBERS)


# -------------------- signs and parts --------------------
_UNCHANGED = loops(arithmetic.copy, (*INTEGRAL, *UNSIGNED))
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
atan2 = binary(Op(loops(np.arctan2, FLOATS), int_to_float, unsupported=not_implemented("atan2_cpu", *COMPLEX)))
_TANH_BACKWARD = Op(
    compiled("tanh_backward", loops(activations.tanh_backward, _FLOAT_OR_COMPLEX)),
    unsupported=not_implemented("tanh_backward_cpu", *INTEGRAL_OR_BOOL),
)


def tanh_backward(grad_output: Array, output: Array, out: Array | None = None) -> Array:
    return compute(_TANH_BACKWARD, (grad_output, output), out)


# -------------------- rounding --------------------


def _rounding(function: Any, name: str, unsupported: dict[Any, Any]) -> Any:
    unsupported = not_implemented(f"{name}_vml_cpu", BOOL, *COMPLEX) | unsupported
    return unary(Op(_UNCHANGED | loops(function, FLOATS), unsupported=unsupported))


floor = _rounding(np.floor, "floor", no_complex("floor"))
ceil = _rounding(np.ceil, "ceil", no_complex("ceil"))
trunc = _rounding(np.trunc, "trunc", no_complex("trunc"))
round = _rounding(np.rint, "round", {})
_ROUND_DECIMALS = Op(loops(arithmetic.round_decimals, FLOATS), unsupported=not_implemented("round_cpu", *ONLY_FLOATING))
_ROUND_TO_INTEGERS = Op(
    loops(arithmetic.round_decimals, FLOATS), unsupported=not_implemented("round_vml_cpu", *ONLY_FLOATING)
)


def round_decimals(input: Array, decimals: int, out: Array | None = None) -> Array:
    return compute(_ROUND_DECIMALS if decimals else _ROUND_TO_INTEGERS, (input,), out, decimals)
