"""Normalization that is written in other ops: checks, and groups and instances as rows or channels."""

from __future__ import annotations

import numpy as np

from mindtorch._core.dtype import finfo
from mindtorch._core.geometry import suggested_format
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch.backends.cpu.normalization.kernels import native_batch_norm
from mindtorch.composite.common.unseen import bare_floats
from mindtorch.dispatch import ops


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    if input.numel() == 0:
        return _batch_norm_of_nothing(input, weight, bias)
    if input.ndim < 2:
        raise errors.dim_out_of_range(1, input.ndim)
    channels = input._mt_array.shape[1]
    _check_statistics(channels, running_mean, running_var, training)
    for name, parameter in (("weight", weight), ("bias", bias)):
        _check_elements(name, parameter, channels)
    return ops.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _check_statistics(channels: int, running_mean: Tensor | None, running_var: Tensor | None, training: bool) -> None:
    for name, statistic in (("running_mean", running_mean), ("running_var", running_var)):
        _check_elements(name, statistic, channels)
        if statistic is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")


def _check_elements(name: str, vector: Tensor | None, count: int) -> None:
    if vector is not None and vector.numel() != count:
        raise RuntimeError(f"{name} should contain {count} elements not {vector.numel()}")


def _batch_norm_of_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """No statistics to update, but the result still depends on the parameters."""
    result = input.clone()
    if weight is not None:
        result = result * weight[0]
    return result if bias is None else result + bias[0]


def group_norm(input, num_groups, weight, bias, eps, cudnn_enabled):
    if input.ndim < 2:
        for dim in (0, 1):
            input.size(dim)  # refuses a dimension that there is not
    check_groups(input, num_groups, weight, bias)
    input = input.contiguous(memory_format=suggested_format(input._mt_array))  # which is what is saved
    images, channels = input._mt_array.shape[:2]
    size = input.numel() // (images * channels) if images * channels else 0
    return ops.native_group_norm(input, weight, bias, images, channels, size, num_groups, eps)[0]


def expect_float(input: Tensor, kernel: str) -> None:
    if not input.is_floating_point():
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.storage_name}'")


def check_groups(input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    channels = input._mt_array.shape[1]
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter._mt_array.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(parameter.shape)} and input of shape {list(input.shape)}"
            )


def rms_norm(input, normalized_shape, weight, eps):
    if input.ndim < len(normalized_shape):
        raise ValueError(f"Input tensor must have at least {len(normalized_shape)} dimensions, but got {input.ndim}")
    _check_rows(input, tuple(normalized_shape), weight)
    if not input.is_complex():
        expect_float(input, "rms_norm")
    dims = tuple(range(-len(normalized_shape), 0))
    # Numbers of two bytes are too coarse for the steps in between.
    rows = input.float() if input.element_size() == 2 else input
    epsilon = finfo(rows.dtype).eps if eps is None else eps
    result = rows * ops.add_Scalar(rows.pow(2).mean(dims, keepdim=True), epsilon).rsqrt()
    result = (result if weight is None else result * weight).to(input.dtype)
    return result.contiguous(memory_format=suggested_format(input._mt_array))


def _check_rows(input: Tensor, shape: tuple[int, ...], weight: Tensor | None) -> None:
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    if weight is not None and tuple(weight.shape) != shape:
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight.shape)} and normalized_shape = {list(shape)}"
        )
    if tuple(input.shape[-len(shape) :]) != shape:
        wanted = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{wanted}], "
            f"but got input of size{list(input.shape)}"
        )


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """Every image is a group of channels of one large image; running statistics are means over the images."""
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if not use_input_stats and running_mean is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    batch, channels = input.size(0), input.size(1)
    if running_mean is None and (result := _unseen_instance_norm(input, weight, bias, eps)) is not None:
        return result.view(input.shape)
    weights = [None if each is None else each.repeat(batch) for each in (weight, bias)]
    dtype = input.dtype if weight is None else weight.dtype  # that of the statistics, whatever they have
    statistics = [None if each is None else each.to(dtype).repeat(batch) for each in (running_mean, running_var)]
    images = input.contiguous().reshape(1, batch * channels, *input.shape[2:])
    result = ops.batch_norm(images, *weights, *statistics, use_input_stats, momentum, eps, False)
    for own, repeated in zip((running_mean, running_var), statistics):
        if own is not None:
            own.copy_(repeated.reshape(batch, channels).mean(0))
    return result.reshape(input.shape)


def _unseen_instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor | None:
    """The large image on arrays, of few elements without statistics; None where that is not what they are."""
    given = [each for each in (input, weight, bias) if each is not None]
    arrays = bare_floats(*given)
    if arrays is None or not 0 < arrays[0].size <= _FEW:
        return None
    array, shape = arrays[0], arrays[0].shape
    images = np.ascontiguousarray(array).reshape(1, shape[0] * shape[1], *shape[2:])
    if 1 in images.shape[1:] or any([each.shape != shape[1:2] for each in arrays[1:]]):
        return None
    weights = [None if each is None else np.tile(each._mt_array, shape[0]) for each in (weight, bias)]
    return wrap(native_batch_norm(images, *weights, None, None, True, 0.0, eps)[0])


_FEW = 1 << 11  # elements
