"""Pointwise ops that are written in other ops: numbers where a tensor is expected, squares, conjugates."""

from __future__ import annotations

import math

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import complex128, float64
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import result_type
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import check_recorded_write, mark_written
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.composite import out_forms
from mindtorch.composite.activations import glu as glu
from mindtorch.composite.activations import glu_backward as glu_backward
from mindtorch.composite.activations import glu_out as glu_out
from mindtorch.composite.activations import log_sigmoid as log_sigmoid
from mindtorch.composite.activations import log_sigmoid_forward as log_sigmoid_forward
from mindtorch.composite.activations import log_sigmoid_out as log_sigmoid_out
from mindtorch.composite.activations import prelu as prelu
from mindtorch.composite.activations import prelu_kernel_backward as prelu_kernel_backward
from mindtorch.composite.activations import selu as selu
from mindtorch.composite.activations import selu_ as selu_
from mindtorch.composite.random_slopes import rrelu as rrelu
from mindtorch.composite.random_slopes import rrelu_ as rrelu_
from mindtorch.composite.random_slopes import rrelu_with_noise as rrelu_with_noise
from mindtorch.composite.random_slopes import rrelu_with_noise_backward as rrelu_with_noise_backward
from mindtorch.composite.wrapped_numbers import beside
from mindtorch.dispatch import ops

Number = bool | int | float | complex


# -------------------- a number as the second operand --------------------


def sub_scalar(input: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return ops.sub(input, other, alpha=alpha)


def sub_scalar_(input: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return input.sub_(other, alpha=alpha)


def mul_scalar(input: Tensor, other: Number) -> Tensor:
    return ops.mul(input, other)


def mul_scalar_(input: Tensor, other: Number) -> Tensor:
    return input.mul_(other)


def div_scalar(input: Tensor, other: Number) -> Tensor:
    return ops.div(input, other)


def div_scalar_(input: Tensor, other: Number) -> Tensor:
    return input.div_(other)


def div_scalar_mode(input: Tensor, other: Number, rounding_mode: str | None) -> Tensor:
    return ops.div(input, other, rounding_mode=rounding_mode)


def div_scalar_mode_(input: Tensor, other: Number, rounding_mode: str | None) -> Tensor:
    return input.div_(other, rounding_mode=rounding_mode)


def floor_divide_scalar(input: Tensor, other: Number) -> Tensor:
    return ops.floor_divide(input, other)


# -------------------- a number as the first operand --------------------


def remainder_scalar_tensor(input: Number, other: Tensor) -> Tensor:
    return ops.remainder(beside(input, other), other)


def where_scalar_self(condition: Tensor, input: Number, other: Tensor) -> Tensor:
    return ops.where(condition, _chosen(input, other), other)


def where_scalar_other(condition: Tensor, input: Tensor, other: Number) -> Tensor:
    return ops.where(condition, input, _chosen(other, input))


def _chosen(number: Number, tensor: Tensor) -> Tensor:
    """The number as an element of the result, into which it must fit."""
    return ops.scalar_tensor(number, dtype=result_type(tensor, number), device=tensor.device)


def where_scalar(condition: Tensor, input: Number, other: Number) -> Tensor:
    dtype = result_type(input, other)
    chosen = [ops.scalar_tensor(number, dtype=dtype, device=condition.device) for number in (input, other)]
    return ops.where(condition, *chosen)


def bitwise_left_shift_scalar_tensor(input: Number, other: Tensor) -> Tensor:
    return ops.bitwise_left_shift(beside(input, other), other)


def bitwise_right_shift_scalar_tensor(input: Number, other: Tensor) -> Tensor:
    return ops.bitwise_right_shift(beside(input, other), other)


def bitwise_and_scalar_tensor(input: Number, other: Tensor) -> Tensor:
    return ops.bitwise_and(beside(input, other), other)


def bitwise_or_scalar_tensor(input: Number, other: Tensor) -> Tensor:
    return ops.bitwise_or(beside(input, other), other)


def bitwise_xor_scalar_tensor(input: Number, other: Tensor) -> Tensor:
    return ops.bitwise_xor(beside(input, other), other)


# -------------------- other ops --------------------


def square(input: Tensor) -> Tensor:
    return ops.pow(input, 2)


def square_(input: Tensor) -> Tensor:
    return input.pow_(2)


def square_out(input: Tensor, out: Tensor) -> Tensor:
    return ops.pow(input, 2, out=out)


def conj_physical(input: Tensor) -> Tensor:
    return ops._conj_physical(input) if input.is_complex() else input


def conj_physical_(input: Tensor) -> Tensor:
    if input.is_complex():
        return input.copy_(ops._conj_physical(input))
    check_recorded_write(input)
    mark_written(input)
    return input


def conj_physical_out(input: Tensor, out: Tensor) -> Tensor:
    if out.dtype is not input.dtype:
        raise RuntimeError(f"Found dtype {out.dtype.storage_name} but expected {input.dtype.storage_name}")
    return write_out(out, ops._conj_physical(input))


def where_condition(condition: Tensor) -> tuple[Tensor, ...]:
    """The indices of the elements that are set, one tensor per dimension."""
    if condition.ndim == 0:
        condition = condition.unsqueeze(0)
    return condition.nonzero().unbind(1)


# -------------------- powers in double precision --------------------


def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    return ops.pow(*_in_double(input, exponent))


def float_power_(input: Tensor, exponent: Tensor | Number) -> Tensor:
    dtype = _double_of(input, exponent)
    if input.dtype is not dtype:
        raise _unfit("base given to float_power_", input, dtype)
    return input.pow_(_in_double(input, exponent)[1])


def float_power_out(input: Tensor | Number, exponent: Tensor | Number, out: Tensor) -> Tensor:
    dtype = _double_of(input, exponent)
    if out.dtype is not dtype:
        raise _unfit("output given to float_power", out, dtype)
    return write_out(out, ops.pow(*_in_double(input, exponent)))


def _double_of(*operands: Tensor | Number) -> Dtype:
    is_complex = any(each.is_complex() if isinstance(each, Tensor) else isinstance(each, complex) for each in operands)
    return complex128 if is_complex else float64


def _in_double(*operands: Tensor | Number) -> list[Tensor | Number]:
    dtype = _double_of(*operands)
    convert = complex if dtype is complex128 else float
    return [each.to(dtype) if isinstance(each, Tensor) else convert(each) for each in operands]


def _unfit(role: str, tensor: Tensor, dtype: Dtype) -> RuntimeError:
    return RuntimeError(
        f"the {role} has dtype {tensor.dtype.storage_name} but the operation's result requires dtype "
        f"{dtype.storage_name}"
    )


# -------------------- second names --------------------

absolute_out = out_forms.of_op("abs")
negative_out = out_forms.of_op("neg")
fix_out = out_forms.of_op("trunc")
clip_out = out_forms.of_op("clamp")
multiply_out = out_forms.of_op("mul")
subtract_out = out_forms.of_op("sub")
divide_out = out_forms.of_op("div")
divide_mode_out = out_forms.of_op("div")
arctan2_out = out_forms.of_op("atan2")
arcsin_out = out_forms.of_op("asin")
arccos_out = out_forms.of_op("acos")
arctan_out = out_forms.of_op("atan")
arcsinh_out = out_forms.of_op("asinh")
arccosh_out = out_forms.of_op("acosh")
arctanh_out = out_forms.of_op("atanh")
greater_out = out_forms.of_op("gt")
greater_equal_out = out_forms.of_op("ge")
less_out = out_forms.of_op("lt")
less_equal_out = out_forms.of_op("le")
not_equal_out = out_forms.of_op("ne")


def absolute(input: Tensor) -> Tensor:
    return ops.abs(input)


def absolute_(input: Tensor) -> Tensor:
    return input.abs_()


def negative(input: Tensor) -> Tensor:
    return ops.neg(input)


def negative_(input: Tensor) -> Tensor:
    return input.neg_()


def fix(input: Tensor) -> Tensor:
    return ops.trunc(input)


def fix_(input: Tensor) -> Tensor:
    return input.trunc_()


def clip(input: Tensor, min: Tensor | Number | None, max: Tensor | Number | None) -> Tensor:
    return ops.clamp(input, min, max)


def clip_(input: Tensor, min: Tensor | Number | None, max: Tensor | Number | None) -> Tensor:
    return input.clamp_(min, max)


def multiply(input: Tensor, other: Tensor) -> Tensor:
    return ops.mul(input, other)


def multiply_(input: Tensor, other: Tensor) -> Tensor:
    return input.mul_(other)


def subtract(input: Tensor, other: Tensor, alpha: Number) -> Tensor:
    return ops.sub(input, other, alpha=alpha)


def subtract_(input: Tensor, other: Tensor, alpha: Number) -> Tensor:
    return input.sub_(other, alpha=alpha)


def divide(input: Tensor, other: Tensor) -> Tensor:
    return ops.div(input, other)


def divide_(input: Tensor, other: Tensor) -> Tensor:
    return input.div_(other)


def divide_mode(input: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    return ops.div(input, other, rounding_mode=rounding_mode)


def divide_mode_(input: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    return input.div_(other, rounding_mode=rounding_mode)


def arctan2(input: Tensor, other: Tensor) -> Tensor:
    return ops.atan2(input, other)


def arctan2_(input: Tensor, other: Tensor) -> Tensor:
    return input.atan2_(other)


def arcsin(input: Tensor) -> Tensor:
    return ops.asin(input)


def arcsin_(input: Tensor) -> Tensor:
    return input.asin_()


def arccos(input: Tensor) -> Tensor:
    return ops.acos(input)


def arccos_(input: Tensor) -> Tensor:
    return input.acos_()


def arctan(input: Tensor) -> Tensor:
    return ops.atan(input)


def arctan_(input: Tensor) -> Tensor:
    return input.atan_()


def arcsinh(input: Tensor) -> Tensor:
    return ops.asinh(input)


def arcsinh_(input: Tensor) -> Tensor:
    return input.asinh_()


def arccosh(input: Tensor) -> Tensor:
    return ops.acosh(input)


def arccosh_(input: Tensor) -> Tensor:
    return input.acosh_()


def arctanh(input: Tensor) -> Tensor:
    return ops.atanh(input)


def arctanh_(input: Tensor) -> Tensor:
    return input.atanh_()


def greater(input: Tensor, other: Tensor) -> Tensor:
    return ops.gt(input, other)


def greater_(input: Tensor, other: Tensor | Number) -> Tensor:
    return input.gt_(other)


def greater_equal(input: Tensor, other: Tensor) -> Tensor:
    return ops.ge(input, other)


def greater_equal_(input: Tensor, other: Tensor | Number) -> Tensor:
    return input.ge_(other)


def less(input: Tensor, other: Tensor) -> Tensor:
    return ops.lt(input, other)


def less_(input: Tensor, other: Tensor | Number) -> Tensor:
    return input.lt_(other)


def less_equal(input: Tensor, other: Tensor) -> Tensor:
    return ops.le(input, other)


def less_equal_(input: Tensor, other: Tensor | Number) -> Tensor:
    return input.le_(other)


def not_equal(input: Tensor, other: Tensor) -> Tensor:
    return ops.ne(input, other)


def not_equal_(input: Tensor, other: Tensor | Number) -> Tensor:
    return input.ne_(other)


# -------------------- questions about each element --------------------


def isreal(input: Tensor) -> Tensor:
    return ops.eq(ops.imag(input), 0) if input.is_complex() else ops.ones_like(input, dtype=boolean)


def isfinite(input: Tensor) -> Tensor:
    """Of tensors that require grad `abs` is recorded, as in torch."""
    if input.is_complex():
        return isfinite(ops.real(input)).logical_and_(isfinite(ops.imag(input)))
    if input.is_floating_point():
        return ops.lt(ops.abs(input), math.inf)  # which nan is not
    return ops.ones_like(input, dtype=boolean)


def positive(input: Tensor) -> Tensor:
    if input.dtype is boolean:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def isin_number(elements: Tensor, test_element: Number, assume_unique: bool, invert: bool) -> Tensor:
    _check_isin(elements.dtype, _SCALARS.get(type(test_element)))
    return ops.ne(elements, test_element) if invert else ops.eq(elements, test_element)


def number_isin(element: Number, test_elements: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    _check_isin(_SCALARS.get(type(element)), test_elements.dtype)
    found = ops.eq(test_elements, element).any()
    return ~found if invert else found


def isin(elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    _check_isin(elements.dtype, test_elements.dtype)
    tests = test_elements.reshape((-1,))
    found = _found_among_sorted if tests.numel() > _FEW_TESTS else _found_one_by_one
    result = found(elements, tests)
    return ~result if invert else result


_FEW_TESTS = 16  # with which all are compared sooner than these are sorted


def _found_one_by_one(elements: Tensor, tests: Tensor) -> Tensor:
    return ops.eq(elements.unsqueeze(-1), tests).any(-1)


def _found_among_sorted(elements: Tensor, tests: Tensor) -> Tensor:
    """NaN, which is sorted to the end, is equal to none there either."""
    dtype = result_type(elements, tests)
    elements, ordered = elements.detach().to(dtype), tests.detach().to(dtype).sort()[0]
    places = ops.searchsorted(ordered, elements.contiguous()).clamp(max=tests.numel() - 1)
    return ops.eq(ordered.index_select(0, places.reshape((-1,))).reshape(elements.shape), elements)


_SCALARS = {bool: boolean, complex: complex128}  # those that are refused


def _check_isin(*dtypes: Dtype | None) -> None:
    for dtype in filter(None, dtypes):
        if dtype is boolean or dtype.is_complex:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtype.storage_name}")


isin_out = out_forms.of_same_dtype(isin)
