"""Activation functions that are written in other ops."""

from __future__ import annotations

from mindtorch._core.promotion import result_type
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.dispatch import ops
from mindtorch.iterator import broadcast_shapes, check_inplace_shape, check_result_dtype, check_same_dtype


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Times a slope, one for all or one for each channel, where it is negative."""
    _check_slopes(input, weight)
    if input.ndim != weight.ndim:
        shape = [1] * input.ndim
        if input.ndim > 1:
            shape[1] = weight.numel()
        weight = weight.reshape(shape)
    return ops._prelu_kernel(input, weight)


def _check_slopes(input: Tensor, weight: Tensor) -> None:
    if input.dtype is not weight.dtype:
        kinds = input.dtype.storage_name, weight.dtype.storage_name
        raise RuntimeError("prelu: Type promoting not supported. Got {} and {}".format(*kinds))
    if weight.numel() != 1:
        if not input.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.size(1) if input.ndim > 1 else 1
        if channels != weight.numel():
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")


def prelu_kernel_backward(grad_output: Tensor, input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of the input and, before it is summed, of the slope."""
    for each in (grad_output, weight):
        check_same_dtype(each.dtype.numpy, input.dtype.numpy)
    _check_floating("prelu_backward_cpu", input)
    positive = input > 0
    of_input, of_weight = ops.where(positive, grad_output, weight * grad_output), input * grad_output
    if of_weight.shape != of_input.shape:
        of_weight = of_weight.expand(of_input.shape)
    return of_input, ops.where(positive, 0, of_weight)


# -------------------- gates --------------------


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second half."""
    first, second = _halves(input, dim)
    _check_floating("glu_cpu", input)
    return first * second.sigmoid()


def glu_out(input: Tensor, dim: int, out: Tensor) -> Tensor:
    _halves(input, dim)
    check_result_dtype(input.dtype.numpy, out.dtype.numpy)
    return write_out(out, glu(input, dim))


def glu_backward(grad_output: Tensor, input: Tensor, dim: int) -> Tensor:
    first, second = _halves(input, dim)
    check_result_dtype(result_type(input, 1.0).numpy, input.dtype.numpy)
    _check_floating("glu_backward_cpu", input)
    check_same_dtype(grad_output.dtype.numpy, input.dtype.numpy)
    check_inplace_shape(first, broadcast_shapes(first.shape, grad_output.shape))
    gate = second.sigmoid()
    return ops.cat([gate * grad_output, (1 - gate) * gate * first * grad_output], dim)


def _check_floating(kernel: str, input: Tensor) -> None:
    if not input.is_floating_point():
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.storage_name}'")


def _halves(input: Tensor, dim: int) -> tuple[Tensor, ...]:
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % input.ndim} is size {size}")
    return input.chunk(2, dim)


# -------------------- the logarithm of the sigmoid --------------------


def log_sigmoid_out(input: Tensor, out: Tensor) -> Tensor:
    result = ops.log_sigmoid(input)
    if out.dtype is not result.dtype:
        raise RuntimeError(f"expected scalar type {result.dtype.storage_name} but found {out.dtype.storage_name}")
    return write_out(out, result)


def log_sigmoid_forward(input: Tensor) -> tuple[Tensor, Tensor]:
    """The result, and exp(-|input|), which its gradient is made of."""
    _check_floating("log_sigmoid_cpu", input)
    input = input.contiguous()
    return -ops.softplus(-input, 1, 40), (-input.detach().abs()).exp()
