"""Kernels of the parts of numbers: fractions, exponents, neighbours; of angles; of logarithms of sums."""

from functools import lru_cache, partial
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.promotion import (
    BFLOAT16,
    BOOL,
    COMPLEX,
    FLOAT,
    FLOATING,
    HALF,
    INT32,
    common_dtype,
    first,
    int_to_float,
    is_integral,
)
from mindtorch._core.strided import empty_like
from mindtorch.backends.cpu.common import arithmetic, halves, paired, parts
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.computing import FLOATS, REAL_NUMBERS, WHOLE_AND_UNSIGNED, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import binary, is_plain, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    INTEGRAL_OR_BOOL,
    ONLY_FLOATING,
    not_implemented,
    without_complex,
)
from mindtorch.backends.cpu.compiled.choice import compiled

Array = np.ndarray
_REAL = (BOOL, *REAL_NUMBERS)


# -------------------- remainders and divisors --------------------
frac = unary(
    Op(compiled("frac", loops(parts.fraction, FLOATS)), unsupported=not_implemented("frac_cpu", *ONLY_FLOATING))
)


# -------------------- the larger and the smaller one --------------------
_HEAVISIDE = Op(
    loops(parts.heaviside, _REAL), unsupported=without_complex("heaviside is not yet implemented for complex tensors.")
)


def heaviside(input: Array, values: Array, out: Array | None = None) -> Array:
    dtypes = {each.dtype for each in (input, values, out) if each is not None}
    if len(dtypes) > 1 and not {input.dtype, values.dtype} & {*COMPLEX}:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return compute(_HEAVISIDE, (input, values), out)


# -------------------- signs and infinities --------------------
copysign = binary(
    Op(
        loops(np.copysign, FLOATS) | loops(halves.copysign, (HALF, BFLOAT16)),
        int_to_float,
        unsupported=not_implemented("copysign_cpu", *COMPLEX),
    )
)
_COPY = Op(loops(arithmetic.copy, WHOLE_AND_UNSIGNED))
_NAN_TO_NUM = Op(compiled("nan_to_num", loops(parts.nan_to_num, (*FLOATS, *COMPLEX))))


def nan_to_num(
    input: Array,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    out: Array | None = None,
) -> Array:
    if out is not None and out.dtype != input.dtype:
        given, expected = (FROM_NUMPY[each.dtype].storage_name for each in (out, input))
        raise RuntimeError(f"nan_to_num: dtype of out: {given} should be same as input: {expected}")
    if out is None and not is_plain(input):
        out = empty_like(input)
    if is_integral(input.dtype):
        return out if out is input else compute(_COPY, (input,), out)
    least, largest = _limits(input.dtype)
    high = largest if posinf is None else posinf
    low = least if neginf is None else neginf
    return compute(_NAN_TO_NUM, (input,), out, 0.0 if nan is None else nan, high, low)


@lru_cache
def _limits(dtype: np.dtype) -> tuple[float, float]:
    limits = ml_dtypes.finfo(dtype) if dtype in FLOATING else np.finfo(dtype)
    return float(limits.min), float(limits.max)


# -------------------- exponents --------------------
_LDEXP = Op(loops(parts.ldexp, FLOATS), compute_dtype=first)
_POWER_OF_TWO = Op(loops(np.exp2, (*FLOATS, *COMPLEX)), int_to_float)
_PRODUCT = Op(loops(np.multiply, (*FLOATS, *COMPLEX)))
_MANTISSA = Op(loops(parts.mantissa, FLOATS))
_EXPONENT = Op(loops(parts.exponent, FLOATS), result_dtype=lambda dtype: INT32)


def ldexp(input: Array, other: Array, out: Array | None = None) -> Array:
    """With an integer for an exponent the power of two, which may be out of range, is not computed.

    Else it is as exact as the exponent's dtype.
    """
    if out is not None and is_integral(out.dtype):
        raise RuntimeError(f"ldexp can't be cast to the desired output type {FROM_NUMPY[out.dtype].storage_name}")
    if input.dtype not in FLOATING or not is_integral(other.dtype):
        return compute(_PRODUCT, (input, compute(_POWER_OF_TWO, (other,))), out)
    if other.dtype == BOOL:
        raise not_implemented("ldexp_cpu_exp", BOOL)[BOOL](BOOL)
    return compute(_LDEXP, (input, other), out)


def frexp(input: Array, out: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
    if input.dtype not in FLOATING:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = (empty_like(input), empty_like(input, INT32)) if out is None else out
    if mantissa.dtype != input.dtype:
        raise RuntimeError(f"torch.frexp() expects mantissa to have dtype {c_name(input)} but got {c_name(mantissa)}")
    if exponent.dtype != INT32:
        raise RuntimeError(f"torch.frexp() expects exponent to have int dtype but got {c_name(exponent)}")
    return compute(_MANTISSA, (input,), mantissa), compute(_EXPONENT, (input,), exponent)


# What float16 and bfloat16 are computed in, float32, has other neighbours.
_NEXTAFTER = Op(loops(np.nextafter, FLOATS), unsupported=not_implemented("nextafter_cpu", *ONLY_FLOATING))
_NEXTAFTER_NARROW = {dtype: Op({FLOAT: partial(parts.next_narrow, dtype)}) for dtype in (HALF, BFLOAT16)}


def nextafter(input: Array, other: Array, out: Array | None = None) -> Array:
    return compute(_NEXTAFTER_NARROW.get(common_dtype(input, other), _NEXTAFTER), (input, other), out)


# -------------------- roots and logarithms of sums --------------------
hypot = binary(Op(loops(paired.hypot, FLOATS), unsupported=not_implemented("hypot_cpu", *ONLY_FLOATING)))
logaddexp = binary(
    Op(
        compiled("logaddexp", loops(paired.logaddexp, FLOATS) | loops(parts.logaddexp_of_complex, COMPLEX)),
        unsupported=not_implemented("logaddexp_cpu", *INTEGRAL_OR_BOOL),
    )
)
logaddexp2 = binary(
    Op(
        compiled("logaddexp2", loops(np.logaddexp2, FLOATS)),
        unsupported=not_implemented("logaddexp2_cpu", *ONLY_FLOATING),
    )
)
_LOGIT = Op(loops(parts.logit, FLOATS), int_to_float, unsupported=not_implemented("logit_cpu", *COMPLEX))


def logit(input: Array, eps: float | None = None, out: Array | None = None) -> Array:
    return compute(_LOGIT, (input,), out, eps, input.dtype if input.dtype in (HALF, BFLOAT16) else None)


# -------------------- angles --------------------


def _scaled(factor: float, name: str) -> Any:
    computation = partial(parts.times, factor)
    unsupported = without_complex(f"{name} is not supported for complex tensors.")
    return unary(Op(loops(computation, FLOATS), int_to_float, unsupported=unsupported))


deg2rad = _scaled(np.pi / 180, "deg2rad")
rad2deg = _scaled(180 / np.pi, "rad2deg")
sinc = unary(Op(loops(parts.sinc, (*FLOATS, *COMPLEX)), int_to_float))
