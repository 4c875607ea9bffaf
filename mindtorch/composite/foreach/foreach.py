"""Ops over lists of tensors: the op of the same name, tensor by tensor. In-place ones give back the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

Tensors = Sequence[Tensor]
Numbers = Sequence[Any]


def _check(tensors: Tensors, *others: Tensors) -> None:
    for other in others:
        if len(other) != len(tensors):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}"
            )
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")


def _check_numbers(tensors: Tensors, numbers: Numbers) -> None:
    if len(numbers) != len(tensors):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")


def _check_scalar(scalar: Tensor) -> None:
    if scalar.dim() != 0:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {scalar.dim()} dimensions and {scalar.numel()} elements."
        )


def _op(name: str) -> Callable:
    return lambda *args, **kwargs: getattr(ops, name)(*args, **kwargs)


def _method(name: str) -> Callable:
    return lambda tensor, *args, **kwargs: getattr(tensor, name)(*args, **kwargs)


def _in_place(function: Callable) -> Callable:
    """The list itself instead of the tuple of its tensors."""

    def kernel(input: Tensors, *args: Any, **kwargs: Any) -> Tensors:
        function(input, *args, **kwargs)
        return input

    return kernel


# -------------------- by what is given beside the list --------------------


def _each(op: Callable) -> Callable:
    def kernel(input: Tensors) -> tuple[Tensor, ...]:
        _check(input)
        return tuple([op(tensor) for tensor in input])

    return kernel


def _with_number(op: Callable) -> Callable:
    def kernel(input: Tensors, scalar: Any) -> tuple[Tensor, ...]:
        _check(input)
        return tuple([op(tensor, scalar) for tensor in input])

    return kernel


def _with_numbers(op: Callable) -> Callable:
    def kernel(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]:
        _check(input)
        _check_numbers(input, scalars)
        return tuple([op(tensor, scalar) for tensor, scalar in zip(input, scalars)])

    return kernel


def _with_scalar_tensor(op: Callable) -> Callable:
    def kernel(input: Tensors, other: Tensor, **options: Any) -> tuple[Tensor, ...]:
        _check(input)
        _check_scalar(other)
        return tuple([op(tensor, other, **options) for tensor in input])

    return kernel


def _with_list(op: Callable) -> Callable:
    def kernel(input: Tensors, other: Tensors, **options: Any) -> tuple[Tensor, ...]:
        _check(input, other)
        return tuple([op(a, b, **options) for a, b in zip(input, other)])

    return kernel


def _with_lists_and_value(op: Callable) -> Callable:
    def kernel(input: Tensors, tensor1: Tensors, tensor2: Tensors, value: Any = 1) -> tuple[Tensor, ...]:
        _check(input, tensor1, tensor2)
        return tuple([op(a, b, c, value=value) for a, b, c in zip(input, tensor1, tensor2)])

    return kernel


def _with_lists_and_values(op: Callable) -> Callable:
    def kernel(input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Numbers) -> tuple[Tensor, ...]:
        _check(input, tensor1, tensor2)
        _check_numbers(input, scalars)
        return tuple([op(a, b, c, value=value) for a, b, c, value in zip(input, tensor1, tensor2, scalars)])

    return kernel


def _with_lists_and_packed_values(op: Callable) -> Callable:
    by_number = _with_lists_and_values(op)

    def kernel(input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Tensor) -> tuple[Tensor, ...]:
        if scalars.dim() != 1:
            raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {scalars.dim()} instead.")
        if len(scalars) != len(input):
            raise RuntimeError(
                f"Expected length of scalars to match input of length {len(input)} but got {len(scalars)} instead."
            )
        return by_number(input, tensor1, tensor2, scalars.tolist())

    return kernel


def _with_list_and_number(op: Callable) -> Callable:
    def kernel(input: Tensors, tensors1: Tensors, weight: Any) -> tuple[Tensor, ...]:
        _check(input, tensors1)
        return tuple([op(a, b, weight) for a, b in zip(input, tensors1)])

    return kernel


def _with_list_and_numbers(op: Callable) -> Callable:
    def kernel(input: Tensors, tensors1: Tensors, weight: Numbers) -> tuple[Tensor, ...]:
        _check(input, tensors1)
        _check_numbers(input, weight)
        return tuple([op(*each) for each in zip(input, tensors1, weight)])

    return kernel


def _with_two_lists(op: Callable) -> Callable:
    def kernel(input: Tensors, tensors1: Tensors, weights: Tensors) -> tuple[Tensor, ...]:
        _check(input, tensors1, weights)
        return tuple([op(*each) for each in zip(input, tensors1, weights)])

    return kernel


# -------------------- the ops --------------------

add_scalar = _with_number(_op("add"))
add_list = _with_list(_op("add"))
add_scalar_list = _with_numbers(_op("add"))
add_tensor = _with_scalar_tensor(_op("add"))
sub_scalar = _with_number(_op("sub"))
sub_list = _with_list(_op("sub"))
sub_scalar_list = _with_numbers(_op("sub"))
mul_scalar = _with_number(_op("mul"))
mul_list = _with_list(_op("mul"))
mul_scalar_list = _with_numbers(_op("mul"))
mul_tensor = _with_scalar_tensor(_op("mul"))
div_scalar = _with_number(_op("div"))
div_list = _with_list(_op("div"))
div_scalar_list = _with_numbers(_op("div"))
div_tensor = _with_scalar_tensor(_op("div"))
clamp_max_scalar = _with_number(_op("clamp_max"))
clamp_max_list = _with_list(_op("clamp_max"))
clamp_max_scalar_list = _with_numbers(_op("clamp_max"))
clamp_min_scalar = _with_number(_op("clamp_min"))
clamp_min_list = _with_list(_op("clamp_min"))
clamp_min_scalar_list = _with_numbers(_op("clamp_min"))
maximum_scalar = _with_number(_op("clamp_min"))
maximum_list = _with_list(_op("clamp_min"))
maximum_scalar_list = _with_numbers(_op("clamp_min"))
minimum_scalar = _with_number(_op("clamp_max"))
minimum_list = _with_list(_op("clamp_max"))
minimum_scalar_list = _with_numbers(_op("clamp_max"))
addcdiv_scalar = _with_lists_and_value(_op("addcdiv"))
addcdiv_scalar_list = _with_lists_and_values(_op("addcdiv"))
addcdiv_tensor = _with_lists_and_packed_values(_op("addcdiv"))
addcmul_scalar = _with_lists_and_value(_op("addcmul"))
addcmul_scalar_list = _with_lists_and_values(_op("addcmul"))
addcmul_tensor = _with_lists_and_packed_values(_op("addcmul"))
lerp_list = _with_two_lists(_op("lerp"))
lerp_scalar = _with_list_and_number(_op("lerp"))
lerp_scalar_list = _with_list_and_numbers(_op("lerp"))
pow_list = _with_list(_op("pow"))
pow_scalar = _with_number(_op("pow"))
pow_scalar_list = _with_numbers(_op("pow"))
abs = _each(_op("abs"))
acos = _each(_op("acos"))
asin = _each(_op("asin"))
atan = _each(_op("atan"))
ceil = _each(_op("ceil"))
cos = _each(_op("cos"))
cosh = _each(_op("cosh"))
erf = _each(_op("erf"))
erfc = _each(_op("erfc"))
exp = _each(_op("exp"))
expm1 = _each(_op("expm1"))
floor = _each(_op("floor"))
frac = _each(_op("frac"))
lgamma = _each(_op("lgamma"))
log = _each(_op("log"))
log10 = _each(_op("log10"))
log1p = _each(_op("log1p"))
log2 = _each(_op("log2"))
neg = _each(_op("neg"))
reciprocal = _each(_op("reciprocal"))
round = _each(_op("round"))
rsqrt = _each(_op("rsqrt"))
sigmoid = _each(_op("sigmoid"))
sign = _each(_op("sign"))
sin = _each(_op("sin"))
sinh = _each(_op("sinh"))
sqrt = _each(_op("sqrt"))
tan = _each(_op("tan"))
tanh = _each(_op("tanh"))
trunc = _each(_op("trunc"))

add_scalar_ = _in_place(_with_number(_method("add_")))
add_list_ = _in_place(_with_list(_method("add_")))
add_scalar_list_ = _in_place(_with_numbers(_method("add_")))
add_tensor_ = _in_place(_with_scalar_tensor(_method("add_")))
sub_scalar_ = _in_place(_with_number(_method("sub_")))
sub_list_ = _in_place(_with_list(_method("sub_")))
sub_scalar_list_ = _in_place(_with_numbers(_method("sub_")))
mul_scalar_ = _in_place(_with_number(_method("mul_")))
mul_list_ = _in_place(_with_list(_method("mul_")))
mul_scalar_list_ = _in_place(_with_numbers(_method("mul_")))
mul_tensor_ = _in_place(_with_scalar_tensor(_method("mul_")))
div_scalar_ = _in_place(_with_number(_method("div_")))
div_list_ = _in_place(_with_list(_method("div_")))
div_scalar_list_ = _in_place(_with_numbers(_method("div_")))
div_tensor_ = _in_place(_with_scalar_tensor(_method("div_")))
clamp_max_scalar_ = _in_place(_with_number(_method("clamp_max_")))
clamp_max_list_ = _in_place(_with_list(_method("clamp_max_")))
clamp_max_scalar_list_ = _in_place(_with_numbers(_method("clamp_max_")))
clamp_min_scalar_ = _in_place(_with_number(_method("clamp_min_")))
clamp_min_list_ = _in_place(_with_list(_method("clamp_min_")))
clamp_min_scalar_list_ = _in_place(_with_numbers(_method("clamp_min_")))
maximum_scalar_ = _in_place(_with_number(_method("clamp_min_")))
maximum_list_ = _in_place(_with_list(_method("clamp_min_")))
maximum_scalar_list_ = _in_place(_with_numbers(_method("clamp_min_")))
minimum_scalar_ = _in_place(_with_number(_method("clamp_max_")))
minimum_list_ = _in_place(_with_list(_method("clamp_max_")))
minimum_scalar_list_ = _in_place(_with_numbers(_method("clamp_max_")))
addcdiv_scalar_ = _in_place(_with_lists_and_value(_method("addcdiv_")))
addcdiv_scalar_list_ = _in_place(_with_lists_and_values(_method("addcdiv_")))
addcdiv_tensor_ = _in_place(_with_lists_and_packed_values(_method("addcdiv_")))
addcmul_scalar_ = _in_place(_with_lists_and_value(_method("addcmul_")))
addcmul_scalar_list_ = _in_place(_with_lists_and_values(_method("addcmul_")))
addcmul_tensor_ = _in_place(_with_lists_and_packed_values(_method("addcmul_")))
lerp_list_ = _in_place(_with_two_lists(_method("lerp_")))
lerp_scalar_ = _in_place(_with_list_and_number(_method("lerp_")))
lerp_scalar_list_ = _in_place(_with_list_and_numbers(_method("lerp_")))
pow_list_ = _in_place(_with_list(_method("pow_")))
pow_scalar_ = _in_place(_with_number(_method("pow_")))
pow_scalar_list_ = _in_place(_with_numbers(_method("pow_")))
abs_ = _in_place(_each(_method("abs_")))
acos_ = _in_place(_each(_method("acos_")))
asin_ = _in_place(_each(_method("asin_")))
atan_ = _in_place(_each(_method("atan_")))
ceil_ = _in_place(_each(_method("ceil_")))
cos_ = _in_place(_each(_method("cos_")))
cosh_ = _in_place(_each(_method("cosh_")))
erf_ = _in_place(_each(_method("erf_")))
erfc_ = _in_place(_each(_method("erfc_")))
exp_ = _in_place(_each(_method("exp_")))
expm1_ = _in_place(_each(_method("expm1_")))
floor_ = _in_place(_each(_method("floor_")))
frac_ = _in_place(_each(_method("frac_")))
lgamma_ = _in_place(_each(_method("lgamma_")))
log_ = _in_place(_each(_method("log_")))
log10_ = _in_place(_each(_method("log10_")))
log1p_ = _in_place(_each(_method("log1p_")))
log2_ = _in_place(_each(_method("log2_")))
neg_ = _in_place(_each(_method("neg_")))
reciprocal_ = _in_place(_each(_method("reciprocal_")))
round_ = _in_place(_each(_method("round_")))
rsqrt_ = _in_place(_each(_method("rsqrt_")))
sigmoid_ = _in_place(_each(_method("sigmoid_")))
sign_ = _in_place(_each(_method("sign_")))
sin_ = _in_place(_each(_method("sin_")))
sinh_ = _in_place(_each(_method("sinh_")))
sqrt_ = _in_place(_each(_method("sqrt_")))
tan_ = _in_place(_each(_method("tan_")))
tanh_ = _in_place(_each(_method("tanh_")))
trunc_ = _in_place(_each(_method("trunc_")))


def pow_of_scalar(input: Any, exponent: Tensors) -> tuple[Tensor, ...]:
    _check(exponent)
    return tuple([ops.pow(input, tensor) for tensor in exponent])


def max(input: Tensors) -> tuple[Tensor, ...]:
    _check(input)
    if not all(tensor.numel() for tensor in input):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    return tuple([ops.amax(tensor) for tensor in input])


def norm_scalar(input: Tensors, ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    _check(input)
    return tuple([ops.linalg_vector_norm(tensor, ord, dtype=dtype) for tensor in input])


def powsum_scalar(input: Tensors, ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    _check(input)
    return tuple([ops.sum(ops.pow(ops.abs(tensor), ord), dtype=dtype) for tensor in input])


def mm(input: Tensors, mat2: Tensors) -> tuple[Tensor, ...]:
    _check(input, mat2)
    return tuple([ops.mm(a, b) for a, b in zip(input, mat2)])


def clone(input: Tensors, memory_format: Any = None) -> tuple[Tensor, ...]:
    _check(input)
    return tuple([ops.clone(tensor, memory_format=memory_format) for tensor in input])


def copy(input: Tensors, src: Tensors, non_blocking: bool = False) -> Tensors:
    _check(input, src)
    for target, source in zip(input, src):
        target.copy_(source, non_blocking)
    return input


def zero(input: Tensors) -> Tensors:
    _check(input)
    for tensor in input:
        tensor.zero_()
    return input
