"""Activation functions that are written in other ops."""

from __future__ import annotations

from mindtorch.dispatch import ops
from mindtorch.tensor import Tensor


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
