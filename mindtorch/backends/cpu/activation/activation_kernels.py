"""Kernels of the activation functions: which computation for which dtype."""

import numpy as np

from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.promotion import BOOL, COMPLEX, UINT8, is_integral, real_number
from mindtorch.backends.cpu.common import activations, arithmetic
from mindtorch.backends.cpu.common.computing import FLOATS, REAL_NUMBERS, Op, compute, loops, widened
from mindtorch.backends.cpu.common.elementwise import binary, binary_with_numbers, unary, unary_with_numbers
from mindtorch.backends.cpu.common.numbers import LARGEST, checked_number, parameter, wide_parameter
from mindtorch.backends.cpu.common.unsupported_dtypes import INTEGRAL_OR_BOOL, ONLY_FLOATING, not_implemented, raising
from mindtorch.backends.cpu.comparison.choosing import clamp
from mindtorch.backends.cpu.compiled.choice import compiled
from mindtorch.iterator import check_same_dtype

Array = np.ndarray
Number = complex

_FLOAT_OR_COMPLEX = (*FLOATS, *COMPLEX)


relu = unary(
    Op(
        compiled("relu", loops(arithmetic.relu, REAL_NUMBERS)),
        unsupported=raising(RuntimeError, "Boolean inputs not supported for relu", BOOL)
        | raising(NotImplementedError, "clamp is not supported for complex types", *COMPLEX),
    )
)
_NO_THRESHOLD = not_implemented("threshold_cpu", BOOL, *COMPLEX)
_THRESHOLD = Op(loops(arithmetic.threshold, REAL_NUMBERS), unsupported=_NO_THRESHOLD, check_overlap=False)
_THRESHOLD_BACKWARD = Op(loops(arithmetic.threshold_backward, REAL_NUMBERS), unsupported=_NO_THRESHOLD)
_THRESHOLD_BACKWARD_OF_ALIKE = Op(compiled("threshold_backward", loops(arithmetic.threshold_backward_of_alike, FLOATS)))
_hardtanh_backward = binary_with_numbers(
    Op(
        compiled("hardtanh_backward", loops(arithmetic.hardtanh_backward, FLOATS)),
        unsupported=not_implemented("hardshrink_backward_cpu", *ONLY_FLOATING),
    )
)
_leaky_relu = unary_with_numbers(
    Op(
        compiled("leaky_relu", loops(arithmetic.leaky_relu, FLOATS)),
        unsupported=not_implemented("leaky_relu_cpu", *ONLY_FLOATING),
    )
)
_LEAKY_RELU_BACKWARD = Op(
    loops(arithmetic.leaky_relu_backward, FLOATS),
    unsupported=not_implemented("leaky_relu_backward_cpu", *ONLY_FLOATING),
)
_LEAKY_RELU_BACKWARD_OF_ALIKE = Op(
    compiled("leaky_relu_backward", loops(arithmetic.leaky_relu_backward_of_alike, FLOATS))
)

_HARDSHRINK = Op(
    compiled("hardshrink", loops(arithmetic.hardshrink, FLOATS)),
    unsupported=not_implemented("hardshrink_cpu", *ONLY_FLOATING),
)
_HARDSHRINK_BACKWARD = Op(
    compiled("hardshrink_backward", loops(arithmetic.hardshrink_backward, FLOATS)),
    unsupported=not_implemented("shrink_backward_cpu", *ONLY_FLOATING),
)
_SOFTSHRINK = Op(compiled("softshrink", loops(arithmetic.softshrink, FLOATS)))
_prelu = binary(
    Op(
        compiled("_prelu_kernel", loops(arithmetic.prelu, FLOATS)),
        unsupported=not_implemented("prelu_cpu", *ONLY_FLOATING),
    )
)


def prelu(input: Array, weight: Array) -> Array:
    check_same_dtype(weight.dtype, input.dtype)
    return _prelu(input, weight)


def _are_alike(grad_output: Array, input: Array) -> bool:
    """Whether it is all the same which of two arrays comes first: the layout of the result does not depend on it."""
    if input.dtype not in FLOATS or grad_output.dtype is not input.dtype:
        return False
    return grad_output.shape == input.shape and grad_output.strides == input.strides


def hardshrink(input: Array, lambd: Number = 0.5, out: Array | None = None) -> Array:
    return compute(_HARDSHRINK, (input,), out, parameter(lambd, input.dtype))


def hardshrink_backward(grad_out: Array, input: Array, lambd: Number, out: Array | None = None) -> Array:
    return compute(_HARDSHRINK_BACKWARD, (grad_out, input), out, parameter(lambd, input.dtype))


def softshrink(input: Array, lambd: Number = 0.5, out: Array | None = None) -> Array:
    dtype = FROM_NUMPY[input.dtype]
    if not dtype.is_floating_point:
        raise NotImplementedError(f"\"softshrink_check\" not implemented for '{dtype.storage_name}'")
    lambd = real_number(lambd)
    if not 0 <= lambd <= LARGEST[input.dtype]:
        raise RuntimeError(
            f"lambda must be in range [0, {LARGEST[input.dtype]:g}] for input dtype {dtype.storage_name}, "
            f"but found {lambd:g}"
        )
    return compute(_SOFTSHRINK, (input,), out, lambd)


def softshrink_backward(grad_output: Array, input: Array, lambd: Number, out: Array | None = None) -> Array:
    return compute(_HARDSHRINK_BACKWARD, (grad_output, input), out, parameter(lambd, input.dtype))


def threshold(input: Array, threshold: Number, value: Number, out: Array | None = None) -> Array:
    if input.dtype not in _NO_THRESHOLD:
        threshold, value = checked_number(threshold, widened(input.dtype)), checked_number(value, input.dtype)
    # In torch, too, this is an op of two operands: `out` may have another dtype.
    return compute(_THRESHOLD, (input, input), out, threshold, value)


def hardtanh(input: Array, min_val: Number = -1, max_val: Number = 1, out: Array | None = None) -> Array:
    if input.dtype == BOOL:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if is_integral(input.dtype):
        min_val, max_val = int(min_val), int(max_val)
        if input.dtype == UINT8 and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return clamp(input, min_val, max_val, out)


def hardtanh_backward(
    grad_output: Array, input: Array, min_val: Number, max_val: Number, out: Array | None = None
) -> Array:
    return _hardtanh_backward(grad_output, input, (min_val, max_val), out)


def threshold_backward(grad_output: Array, input: Array, threshold: Number, out: Array | None = None) -> Array:
    if input.dtype not in _NO_THRESHOLD:
        threshold = checked_number(threshold, widened(input.dtype))
    if _are_alike(grad_output, input):
        return compute(_THRESHOLD_BACKWARD_OF_ALIKE, (grad_output, input), out, threshold)
    return compute(_THRESHOLD_BACKWARD, (input, grad_output), out, threshold)


def leaky_relu(input: Array, negative_slope: Number = 0.01, out: Array | None = None) -> Array:
    return _leaky_relu(input, (negative_slope,), out)


def leaky_relu_backward(
    grad_output: Array, input: Array, negative_slope: float, self_is_result: bool, out: Array | None = None
) -> Array:
    negative_slope = wide_parameter(negative_slope, input.dtype)
    if self_is_result and negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This "
            "is caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
            "leakRelu backward calculation with negative slope"
        )
    if _are_alike(grad_output, input):
        return compute(_LEAKY_RELU_BACKWARD_OF_ALIKE, (grad_output, input), out, negative_slope)
    return compute(_LEAKY_RELU_BACKWARD, (input, grad_output), out, negative_slope)


_NO_GELU = not_implemented("GeluKernelImpl", *ONLY_FLOATING)
_NO_GELU_BACKWARD = not_implemented("GeluBackwardKernelImpl", *ONLY_FLOATING)
_GELU = unary(Op(compiled("gelu", loops(activations.gelu, FLOATS)), unsupported=_NO_GELU))
_GELU_TANH = unary(Op(compiled("gelu_tanh", loops(activations.gelu_tanh, FLOATS)), unsupported=_NO_GELU))
_GELU_BACKWARD = Op(compiled("gelu_backward", loops(activations.gelu_backward, FLOATS)), unsupported=_NO_GELU_BACKWARD)
_GELU_TANH_BACKWARD = Op(
    compiled("gelu_backward_tanh", loops(activations.gelu_tanh_backward, FLOATS)), unsupported=_NO_GELU_BACKWARD
)


def gelu(input: Array, approximate: str = "none", out: Array | None = None) -> Array:
    return activations.by_name(approximate, _GELU, _GELU_TANH)(input, out)


def gelu_backward(grad_output: Array, input: Array, approximate: str = "none", out: Array | None = None) -> Array:
    op = activations.by_name(approximate, _GELU_BACKWARD, _GELU_TANH_BACKWARD)
    return compute(op, (grad_output, input), out)


silu = unary(
    Op(
        compiled("silu", loops(activations.silu, _FLOAT_OR_COMPLEX)),
        unsupported=not_implemented("silu_cpu", *INTEGRAL_OR_BOOL),
    )
)
_SILU_BACKWARD = Op(
    compiled("silu_backward", loops(activations.silu_backward, _FLOAT_OR_COMPLEX)),
    unsupported=not_implemented("silu_backward_cpu", *INTEGRAL_OR_BOOL),
)
mish = unary(
    Op(compiled("mish", loops(activations.mish, FLOATS)), unsupported=not_implemented("mish_cpu", *ONLY_FLOATING))
)
hardswish = unary(
    Op(
        compiled("hardswish", loops(activations.hardswish, FLOATS)),
        unsupported=not_implemented("hardswish_cpu", *ONLY_FLOATING),
    )
)
hardsigmoid = unary(
    Op(
        compiled("hardsigmoid", loops(activations.hardsigmoid, FLOATS)),
        unsupported=not_implemented("hardsigmoid_cpu", *ONLY_FLOATING),
    )
)
_HARDSWISH_BACKWARD = Op(
    compiled("hardswish_backward", loops(activations.hardswish_backward, FLOATS)),
    unsupported=not_implemented("hardswish_backward_cpu", *ONLY_FLOATING),
)
_HARDSIGMOID_BACKWARD = Op(
    compiled("hardsigmoid_backward", loops(activations.hardsigmoid_backward, FLOATS)),
    unsupported=not_implemented("hardsigmoid_backward", *ONLY_FLOATING),
)
_LOG_SIGMOID_BACKWARD = Op(
    compiled("log_sigmoid_backward", loops(activations.log_sigmoid_backward, FLOATS)),
    unsupported=not_implemented("log_sigmoid_backward_cpu", *ONLY_FLOATING),
)
_NO_ELU_BACKWARD = not_implemented("elu_backward_cpu", *ONLY_FLOATING)
_elu_backward = binary_with_numbers(
    Op(compiled("elu_backward", loops(activations.elu_backward, FLOATS)), unsupported=_NO_ELU_BACKWARD)
)
_elu_backward_of_result = binary_with_numbers(
    Op(
        compiled("elu_backward_is_result", loops(activations.elu_backward_of_result, FLOATS)),
        unsupported=_NO_ELU_BACKWARD,
    )
)
_elu = unary_with_numbers(
    Op(compiled("elu", loops(activations.elu, FLOATS)), unsupported=not_implemented("elu_cpu", *ONLY_FLOATING))
)
_softplus = unary_with_numbers(
    Op(
        compiled("softplus", loops(activations.softplus, FLOATS)),
        unsupported=not_implemented("softplus_cpu", *ONLY_FLOATING),
    )
)
_softplus_backward = binary_with_numbers(
    Op(
        compiled("softplus_backward", loops(activations.softplus_backward, FLOATS)),
        unsupported=not_implemented("softplus_backward_cpu", *ONLY_FLOATING),
    )
)


def silu_backward(grad_output: Array, input: Array, out: Array | None = None) -> Array:
    return compute(_SILU_BACKWARD, (grad_output, input), out)


def elu(input: Array, alpha: float = 1, scale: float = 1, input_scale: float = 1, out: Array | None = None) -> Array:
    return _elu(input, (alpha, scale, input_scale), out)


def elu_backward(
    grad_output: Array,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: Array,
    out: Array | None = None,
) -> Array:
    if is_result and wide_parameter(alpha, grad_output.dtype) < 0:
        raise RuntimeError(
            "In-place elu backward calculation is triggered with a negative slope which is not supported. This is "
            "caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead."
        )
    kernel = _elu_backward_of_result if is_result else _elu_backward
    return kernel(grad_output, self_or_result, (alpha, scale, input_scale), out)


def celu(input: Array, alpha: float = 1.0, out: Array | None = None) -> Array:
    alpha = real_number(alpha)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return elu(input, alpha, 1.0, 1.0 / alpha, out)


def hardswish_backward(grad_output: Array, input: Array, out: Array | None = None) -> Array:
    return compute(_HARDSWISH_BACKWARD, (grad_output, input), out)


def hardsigmoid_backward(grad_output: Array, input: Array, out: Array | None = None) -> Array:
    return compute(_HARDSIGMOID_BACKWARD, (grad_output, input), out)


def log_sigmoid_backward(grad_output: Array, input: Array, buffer: Array, out: Array | None = None) -> Array:
    for each in (buffer, grad_output):
        check_same_dtype(each.dtype, input.dtype)
    return compute(_LOG_SIGMOID_BACKWARD, (grad_output, input, buffer), out)


def softplus(input: Array, beta: float = 1, threshold: float = 20, out: Array | None = None) -> Array:
    return _softplus(input, (beta, threshold), out)


def softplus_backward(
    grad_output: Array, input: Array, beta: float, threshold: float, out: Array | None = None
) -> Array:
    return _softplus_backward(grad_output, input, (beta, threshold), out)
