"""Kernels that combine three operands: lerp, addcmul, addcdiv."""

import numpy as np

from mindtorch._core.promotion import BOOL, COMPLEX, common_dtype, first, is_integral
from mindtorch.backends.cpu.common import arithmetic
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.computing import FLOATS, NUMBERS, Op, compute, loops, widened
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.common.unsupported_dtypes import INTEGER_ADDCDIV, INTEGRAL_OR_BOOL, not_implemented
from mindtorch.backends.cpu.compiled.choice import compiled

Array = np.ndarray
Number = complex
_FLOAT_OR_COMPLEX = (*FLOATS, *COMPLEX)


# -------------------- three operands --------------------
_LERP_LOOPS = compiled("lerp_Tensor", loops(arithmetic.lerp, _FLOAT_OR_COMPLEX))
_LERP_BY_NUMBER = Op(
    _LERP_LOOPS,
    compute_dtype=first,
    unsupported=not_implemented("lerp_kernel_scalar", *INTEGRAL_OR_BOOL),
    exact_numbers=True,
    plain_numbers=True,
)
_NO_LERP = not_implemented("lerp_kernel_tensor", *INTEGRAL_OR_BOOL)
_LERP_BY_0_DIM = Op(_LERP_LOOPS, unsupported=_NO_LERP)
_LERP = Op(_LERP_LOOPS, unsupported=_NO_LERP, same_dtype_out=True)
_ADDCMUL = Op(
    compiled("addcmul", loops(arithmetic.addcmul, NUMBERS)), unsupported=not_implemented("addcmul_cpu_out", BOOL)
)
_ADDCDIV = Op(compiled("addcdiv", loops(arithmetic.addcdiv, _FLOAT_OR_COMPLEX)))


def lerp(input: Array, end: Array, weight: Array | Number, out: Array | None = None) -> Array:
    if type(weight) is float and input.dtype is end.dtype and input.dtype in FLOATS and -1 <= weight <= 1:
        return compute(_LERP_BY_NUMBER, (input, end, weight), out)
    _expect_dtype_of(input, end, "end")
    if isinstance(weight, Array):
        if weight.ndim:
            _expect_dtype_of(input, weight, "weight")
        return compute(_LERP if weight.ndim else _LERP_BY_0_DIM, (input, end, weight), out)
    if not is_integral(input.dtype):
        checked_number(weight, widened(input.dtype))
    return compute(_LERP_BY_NUMBER, (input, end, weight), out)


def _expect_dtype_of(input: Array, other: Array, name: str) -> None:
    if other.dtype != input.dtype:
        raise RuntimeError(f"expected dtype {c_name(input)} for `{name}` but got dtype {c_name(other)}")


def addcmul(input: Array, tensor1: Array, tensor2: Array, value: Number = 1, out: Array | None = None) -> Array:
    if value != 1:
        checked_number(value, widened(common_dtype(input, tensor1, tensor2)))
    return compute(_ADDCMUL, (input, tensor1, tensor2), out, value)


def addcdiv(input: Array, tensor1: Array, tensor2: Array, value: Number = 1, out: Array | None = None) -> Array:
    if is_integral(tensor1.dtype) and is_integral(tensor2.dtype):
        raise RuntimeError(INTEGER_ADDCDIV)
    if value != 1:
        checked_number(value, widened(common_dtype(input, tensor1, tensor2)))
    return compute(_ADDCDIV, (input, tensor1, tensor2), out, value)
