"""Layers with the batch normalization that follows them, as one layer."""

from __future__ import annotations

import copy
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Module:
    """A convolution that does what a convolution and a batch normalization in evaluation mode do."""
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    statistics = bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, *statistics, transpose)
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution that does the normalization as well."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), shape)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Module:
    """A linear layer that does what a linear layer and a batch normalization in evaluation mode do."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(linear)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    statistics = bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, *statistics)
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer that does the normalization as well."""
    return _fused(linear_w, linear_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), [-1, 1])


def _fused(weight: Tensor, bias: Any, statistics: tuple, shape: list[int]) -> tuple[Parameter, Parameter]:
    mean, variance, eps, scale, shift = statistics
    bias = ops.zeros_like(mean) if bias is None else bias
    scale = ops.ones_like(mean) if scale is None else scale
    shift = ops.zeros_like(mean) if shift is None else shift
    factor = scale * ops.rsqrt(variance + eps)
    new_weight = (weight * factor.reshape(shape)).to(dtype=weight.dtype)
    new_bias = ((bias - mean) * factor + shift).to(dtype=bias.dtype)
    return Parameter(new_weight, weight.requires_grad), Parameter(new_bias, bias.requires_grad)
