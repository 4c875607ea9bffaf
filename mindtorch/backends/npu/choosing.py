"""Pointwise ops on the NPU that choose between values, exactly, in a few calls of ACLNN."""

import math
from collections.abc import Callable
from typing import Any

from mindtorch._core.promotion import BOOL, real_of
from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.launch import aclnn, copied, operands, placed, remembered
from mindtorch.backends.npu.steps import converted, like

_abs = aclnn("aclnnAbs", "TT")
_atan2 = aclnn("aclnnAtan2", "TTT")
_clamp_min = aclnn("aclnnClampMin", "TST")
_divide = aclnn("aclnnDivMod", "TTiT")
_equals = aclnn("aclnnEqScalar", "TST")
_fill_masked = aclnn("aclnnInplaceMaskedFillScalar", "TTS")
_gcd = aclnn("aclnnGcd", "TTT")
_less = aclnn("aclnnLtScalar", "TST")
_log = aclnn("aclnnLog", "TT")
_maximum = aclnn("aclnnMaximum", "TTT")
_minimum = aclnn("aclnnMinimum", "TTT")
_mul = aclnn("aclnnMul", "TTT")
_neg = aclnn("aclnnNeg", "TT")
_not_equal = aclnn("aclnnNeTensor", "TTT")
_signbit = aclnn("aclnnSignbit", "TT")
_where = aclnn("aclnnSWhere", "TTTT")
_zero = aclnn("aclnnInplaceZero", "T")
_angle_rule = remembered(rules.broadcast("complex_to_real_int_to_float"), "angle")
_float_rule = remembered(rules.broadcast("int_to_float"), "copysign.Tensor")
_entr_rule = remembered(rules.broadcast("int_to_float"), "special_entr")
_fmax_rule, _fmin_rule, _lcm_rule = [
    remembered(rules.broadcast("default", operands=2), op) for op in ("fmax", "fmin", "lcm")
]


def finished(result: NpuArray, out: NpuArray | None) -> NpuArray:
    """The result; in `out` if there is one, or in new memory of its dtype, if that has another shape."""
    if out is None:
        return result
    return copied(out if out.shape == result.shape else like(result, out.dtype), result)


def _of_two(rule: Callable, input: Any, other: Any, out: Any) -> tuple[NpuArray, NpuArray, NpuArray]:
    """Room for the result, and the operands in its dtype, on the device."""
    if out is not None:
        rule(input, other, out=out)  # which refuses what does not fit, and says first what is wrong with `out`
    result = rule(input, other)
    input, other = operands(input, other)
    result = placed(result, input)
    return result, converted(input, result.dtype), converted(other, result.dtype)


def _is_nan(array: NpuArray) -> NpuArray:
    found = like(array, BOOL)
    _not_equal(array, array, found)
    return found


def _without_nan(choose: Callable, rule: Callable, input: Any, other: Any, out: Any) -> NpuArray:
    """The larger or smaller one; the other one where one is not a number."""
    result, input, other = _of_two(rule, input, other, out)
    if not result.size:
        return finished(result, out)
    choose(input, other, result)
    if result.dtype.kind not in "biu":
        chosen = like(result)
        _where(_is_nan(input), other, result, chosen)
        _where(_is_nan(other), input, chosen, result)
    return finished(result, out)


def fmax(input: NpuArray, other: NpuArray, out: Any = None) -> NpuArray:
    return _without_nan(_maximum, _fmax_rule, input, other, out)


def fmin(input: NpuArray, other: NpuArray, out: Any = None) -> NpuArray:
    return _without_nan(_minimum, _fmin_rule, input, other, out)


def copysign(input: NpuArray, other: NpuArray, out: Any = None) -> NpuArray:
    result, input, other = _of_two(_float_rule, input, other, out)
    if not result.size:
        return finished(result, out)
    size, opposite, is_negative = like(input), like(input), like(other, BOOL)
    _abs(input, size)
    _neg(size, opposite)
    _signbit(other, is_negative)
    _where(is_negative, opposite, size, result)
    return finished(result, out)


def lcm(input: NpuArray, other: NpuArray, out: Any = None) -> NpuArray:
    """A product without the common factor; where both are zero that counts as one."""
    result, input, other = _of_two(_lcm_rule, input, other, out)
    if not result.size:
        return finished(result, out)
    factor, rest = like(result), like(result)
    _gcd(input, other, factor)
    _clamp_min(factor, 1, rest)
    _divide(input, rest, _TRUNC, factor)
    _mul(factor, other, rest)
    _abs(rest, result)
    return finished(result, out)


_TRUNC = 1


def angle(input: NpuArray, out: Any = None) -> NpuArray:
    """Zero or pi; of complex numbers the angle of the parts."""
    if out is not None:
        _angle_rule(input, out=out)
    result = placed(_angle_rule(input), input)
    if not result.size:
        return finished(result, out)
    if input.dtype.kind == "c":
        real, imag = _parts(input)
        _atan2(imag, real, result)
    else:
        is_negative = like(input, BOOL)
        _zero(result)
        _less(input, 0, is_negative)
        _fill_masked(result, is_negative, math.pi)
        if input.dtype.kind not in "biu":
            _fill_masked(result, _is_nan(input), math.nan)
    return finished(result, out)


def _parts(array: NpuArray) -> tuple[NpuArray, NpuArray]:
    """The real and the imaginary parts of complex numbers, where they are."""
    dtype, start = real_of(array.dtype), array.byte_offset
    real = array.part(array.shape, dtype, array.strides, start)
    return real, array.part(array.shape, dtype, array.strides, start + dtype.itemsize)


def entr(input: NpuArray, out: Any = None) -> NpuArray:
    """-x log(x); 0 for 0, and minus infinity below."""
    if out is not None:
        _entr_rule(input, out=out)
    result = placed(_entr_rule(input), input)
    if not result.size:
        return finished(result, out)
    input = converted(input, result.dtype)
    logs, products, mask = like(input), like(input), like(input, BOOL)
    _log(input, logs)
    _mul(input, logs, products)
    _neg(products, result)
    _equals(input, 0, mask)
    _fill_masked(result, mask, 0)
    _less(input, 0, mask)
    _fill_masked(result, mask, -math.inf)
    return finished(result, out)
