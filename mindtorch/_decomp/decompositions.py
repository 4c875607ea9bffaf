"""Ops as functions of simpler ones. They compute what the kernels do, up to rounding."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._decomp.registry import register_decomposition
from mindtorch.dispatch import ops
from mindtorch.dispatch.overloads import operators

_aten: Any = operators.aten
_MEAN, _SUM = 1, 2


@register_decomposition(_aten.addmm.default)
def addmm(self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    product = mat1.mm(mat2)
    return (product if alpha == 1 else product * alpha) + (self if beta == 1 else self * beta)


@register_decomposition(_aten.t.default)
def t(self: Any) -> Any:
    return self.transpose(0, 1) if self.ndim == 2 else self.transpose(0, 0) if self.ndim else self.view(())


@register_decomposition(_aten.silu.default)
def silu(self: Any) -> Any:
    return self * self.sigmoid()


@register_decomposition(_aten.gelu.default)
def gelu(self: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (self + 0.044715 * self * self * self)
        return 0.5 * self * (1 + inner.tanh())
    return 0.5 * self * (1 + (self * math.sqrt(0.5)).erf())


@register_decomposition(_aten.leaky_relu.default)
def leaky_relu(self: Any, negative_slope: float = 0.01) -> Any:
    return ops.where(self > 0, self, self * negative_slope)


@register_decomposition(_aten.threshold_backward.default)
def threshold_backward(grad_output: Any, self: Any, threshold: Any) -> Any:
    return ops.where(self <= threshold, 0.0, grad_output)


@register_decomposition(_aten.sigmoid_backward.default)
def sigmoid_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * (output * (1 - output)).conj()


@register_decomposition(_aten.tanh_backward.default)
def tanh_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * (1 - output * output).conj()


@register_decomposition(_aten._softmax.default)
def _softmax(self: Any, dim: int, half_to_float: bool) -> Any:
    powers = (self - self.amax(dim, True)).exp()
    return powers / powers.sum(dim, True)


@register_decomposition(_aten._log_softmax.default)
def _log_softmax(self: Any, dim: int, half_to_float: bool) -> Any:
    shifted = self - self.amax(dim, True)
    return shifted - shifted.exp().sum(dim, True).log()


@register_decomposition(_aten._softmax_backward_data.default)
def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    weighted = grad_output * output
    return (weighted - output * weighted.sum(dim, True)).to(input_dtype)


@register_decomposition(_aten._log_softmax_backward_data.default)
def _log_softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    return (grad_output - output.exp() * grad_output.sum(dim, True)).to(input_dtype)


@register_decomposition(_aten.native_layer_norm.default)
def native_layer_norm(input: Any, normalized_shape: list[int], weight: Any, bias: Any, eps: float) -> Any:
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    mean = input.mean(dims, True)
    centered = input - mean
    scale = ((centered * centered).mean(dims, True) + eps).rsqrt()
    result = centered * scale
    result = result if weight is None else result * weight
    return (result if bias is None else result + bias), mean, scale


@register_decomposition(_aten.mse_loss.default)
def mse_loss(self: Any, target: Any, reduction: int = _MEAN) -> Any:
    difference = self - target
    squares = difference * difference
    return squares.mean() if reduction == _MEAN else squares.sum() if reduction == _SUM else squares


@register_decomposition(_aten.addcmul.default)
def addcmul(self: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    return self + value * tensor1 * tensor2


@register_decomposition(_aten.addcdiv.default)
def addcdiv(self: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    return self + value * (tensor1 / tensor2)


@register_decomposition(_aten.lerp.Scalar)
def lerp(self: Any, end: Any, weight: Any) -> Any:
    if abs(weight) < 0.5:
        return self + weight * (end - self)
    return end - (end - self) * (1 - weight)
