"""Kernels of convolutions and their backwards: checks with torch's texts, then the arithmetic of `convolution`."""

from __future__ import annotations

import numpy as np

from mindtorch._core.strided import laid_out
from mindtorch._support.float_errors import quiet
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.precision import Arrays, deliver, deliver_all, widen
from mindtorch.backends.cpu.common.summing import add_up
from mindtorch.backends.cpu.conv.convolution import Geometry, add_bias, correlate, correlate_weight, scatter
from mindtorch.backends.cpu.conv.convolution_checks import check_dims, check_gradient, check_input, geometry_of

# -------------------- convolution --------------------


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if input.ndim < 3:
        check_dims(input, weight)
    geometry = geometry_of(input.ndim - 2, stride, padding, dilation, output_padding, groups)
    check_input(input, weight, bias, geometry, transposed)
    size_of = geometry.transposed_size if transposed else geometry.output_size
    size = size_of(input.shape[2:], weight.shape[2:])
    move = scatter if transposed else correlate
    out = quiet(move, widen(input), widen(weight), size, geometry)
    strides = image_layout.of_convolution(input, weight, out.shape)
    return laid_out(deliver(add_bias(out, widen(bias)), input), strides)


def convolution_backward(
    grad_output,
    input,
    weight,
    bias_sizes,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    output_mask,
):
    if weight.ndim < 3:
        check_dims(input, weight)
    geometry = geometry_of(weight.ndim - 2, stride, padding, dilation, output_padding, groups)
    check_gradient(grad_output, input, weight, geometry, transposed)
    _check_takes_gradients(input, dilation, transposed, output_mask)
    grads = quiet(
        _convolution_grads, widen(grad_output), widen(input), widen(weight), geometry, transposed, output_mask
    )
    return tuple([_as_convolved(grad, input, weight) for grad in deliver_all(grads, input)])


def _check_takes_gradients(input: np.ndarray, dilation: list[int], transposed: bool, mask: list[bool]) -> None:
    """torch has kernels for the gradients of floating-point numbers only, and for int64 where there is a dilation."""
    if checks.is_float(input) or not (mask[0] or mask[1]):
        return
    dims = 3 if input.ndim == 5 else 2
    if transposed:
        part = "backward_out" if mask[0] else "acc_grad_parameters"
        raise checks.not_implemented(f"slow_conv_transpose{dims}d_{part}_cpu", input)
    if max(dilation) > 1 and input.dtype != np.int64:
        raise checks.not_implemented("slow_conv_dilated<>", input)
    if max(dilation) == 1:
        raise checks.not_implemented(f"slow_conv{dims}d_cpu_grad_{'input' if mask[0] else 'weight'}", input)


def _as_convolved(grad: np.ndarray | None, input: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """A gradient of a convolution in the memory format of its operands."""
    if grad is None or grad.ndim < 3:
        return grad
    return laid_out(grad, image_layout.of_convolution(input, weight, grad.shape))


def _convolution_grads(
    grad: np.ndarray, input: np.ndarray, weight: np.ndarray, geometry: Geometry, transposed: bool, mask: list[bool]
) -> Arrays:
    grad_input = grad_weight = grad_bias = None
    if mask[0]:
        move = correlate if transposed else scatter
        grad_input = move(grad, weight, input.shape[2:], geometry)
    if mask[1]:
        wide, narrow = (grad, input) if transposed else (input, grad)
        grad_weight = correlate_weight(wide, narrow, weight.shape[2:], geometry)
    if mask[2]:
        grad_bias = add_up(grad, (0, *range(2, grad.ndim)))
    return grad_input, grad_weight, grad_bias
