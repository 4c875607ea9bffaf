"""Pointwise ops on the NPU by hand: what takes two calls of ACLNN, or none for some dtypes."""

import math
from typing import Any

import numpy as np

from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.choosing import angle as angle
from mindtorch.backends.npu.choosing import copysign as copysign
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, delivered, placed, remembered
from mindtorch.dispatch.registry import kernel_table

_abs = aclnn("aclnnAbs", "TT")
_equals = aclnn("aclnnEqScalar", "TST")
_nan_to_num = aclnn("aclnnNanToNum", "TfffT")
_prelu = aclnn("aclnnPrelu", "TTT")
_sign = aclnn("aclnnSign", "TT")
_zero = aclnn("aclnnInplaceZero", "T")
_conj_rule, _nan_to_num_rule, _prelu_rule, _sgn_rule = [
    remembered(rules.broadcast("default"), op) for op in ("_conj_physical", "nan_to_num", "_prelu_kernel", "sgn")
]
_isinf_rule = remembered(rules.broadcast("bool"), "isinf")

_LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}

_sgn_on_cpu = kernel_for("sgn")
_isinf_on_cpu = kernel_for("isinf")
_nan_to_num_on_cpu = kernel_for("nan_to_num")
_prelu_on_cpu = kernel_for("_prelu_kernel")
_conj_on_cpu = kernel_for("_conj_physical")


def sgn(input: NpuArray, out: Any = None) -> NpuArray:
    if input.dtype.kind == "c":
        return _sgn_on_cpu(input, out=out)
    result = placed(_sgn_rule(input, out=out), input)
    _sign(input, result)
    return result if out is None else delivered(result, out)


def conj_physical(input: NpuArray) -> NpuArray:
    if input.dtype.kind == "c":
        return _conj_on_cpu(input)
    return copied(placed(_conj_rule(input), input), input)


def isinf(input: NpuArray) -> NpuArray:
    """Whether the absolute value is infinite."""
    if input.dtype.kind == "c":
        return _isinf_on_cpu(input)
    result = placed(_isinf_rule(input), input)
    if input.dtype.kind in "biu":
        if result.size:
            _zero(result)
        return result
    size = new(input.shape, input.dtype, input.root.index)
    _abs(input, size)
    _equals(size, math.inf, result)
    return result


def nan_to_num(
    input: NpuArray, nan: float | None, posinf: float | None, neginf: float | None, out: Any = None
) -> NpuArray:
    if input.dtype.kind == "c" or input.dtype.kind in "biu" or input.dtype == np.float64:
        return _nan_to_num_on_cpu(input, nan, posinf, neginf, out=out)  # ACLNN's numbers are of single precision
    result = placed(_nan_to_num_rule(input, nan, posinf, neginf, out=out), input)
    largest = _LARGEST[input.dtype.name]
    highest, lowest = largest if posinf is None else posinf, -largest if neginf is None else neginf
    _nan_to_num(input, nan or 0.0, highest, lowest, result)
    return result if out is None else delivered(result, out)


def prelu(input: NpuArray, weight: NpuArray) -> NpuArray:
    """ACLNN takes one weight, or one for each channel, in one dimension."""
    channels = weight.size
    is_scalar = weight.shape[:1] in ((1,), ())
    if not input.ndim or not is_scalar or channels > 1 and (input.ndim < 2 or weight.shape[1] != channels):
        return _prelu_on_cpu(input, weight)
    flat = kernel_table("view")[type(weight)](weight, (channels,))
    result = placed(_prelu_rule(input, weight), input)
    _prelu(input, flat, result)
    return result
