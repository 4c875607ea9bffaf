"""Activations with parameters, and the backward passes of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    Evaluator,
    axis,
    expect,
    is_inexact,
    real,
    require,
    same_dtype,
    store,
    wide,
)
from tests.npu_simulator.evaluate.pointwise import Function, fast_gelu, gelu, gelu_slope, sigmoid, softplus

EVALUATORS: dict[str, Evaluator] = {}

# Which take floating tensors only.
ACTIVATIONS: dict[str, Function] = {
    "Gelu": gelu, "FastGelu": fast_gelu, "FastGeluV2": fast_gelu, "Silu": lambda x: x * sigmoid(x),
    "Mish": lambda x: x * np.tanh(softplus(x)), "Hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "Hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6, "LogSigmoid": lambda x: -softplus(-x),
    "Selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    "Softsign": lambda x: x / (1 + np.abs(x)),
}  # fmt: skip


def activation(function: Function) -> Evaluator:
    """Of a floating tensor, delivered in its dtype."""

    def evaluate(self: Any, out: Any) -> None:
        values = wide(self)
        require(is_inexact(self.dtype), f"{self.dtype} is not floating")
        store(out, function(values), dtype=self.dtype)

    return evaluate


EVALUATORS |= {f"aclnn{name}": activation(function) for name, function in ACTIVATIONS.items()}


def _with_numbers(function: Function) -> Evaluator:
    """self, numbers, out"""

    def evaluate(self: Any, *rest: Any) -> None:
        *numbers, out = rest
        store(out, function(wide(self), *numbers), dtype=self.dtype)

    return evaluate


def _elu(x: np.ndarray, alpha: float, scale: float, input_scale: float) -> np.ndarray:
    # CANN: scale * x where x > 0, alpha * scale * (exp(x * inputScale) - 1) elsewhere
    return np.where(x > 0, scale * x, alpha * scale * np.expm1(np.minimum(x, 0) * input_scale))


def _softplus(x: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    # "beyond threshold (beta * x > threshold) it is x itself"
    return np.where(x * beta > threshold, x, softplus(x * beta) / beta)


EVALUATORS |= {
    "aclnnLeakyRelu": _with_numbers(lambda x, slope: np.where(x > 0, x, x * slope)),
    "aclnnElu": _with_numbers(_elu),
    "aclnnEluV2": _with_numbers(_elu),
    "aclnnCelu": _with_numbers(lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))),
    "aclnnSoftplus": _with_numbers(_softplus),
    "aclnnHardshrink": _with_numbers(lambda x, lambd: np.where((x >= -lambd) & (x <= lambd), 0, x)),
    "aclnnSoftshrink": _with_numbers(
        lambda x, lambd: np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, 0 * x))
    ),
    "aclnnThreshold": _with_numbers(lambda x, threshold, value: np.where(x <= threshold, value, x)),
    "aclnnThresholdV2": _with_numbers(lambda x, threshold, value: np.where(x <= threshold, value, x)),
    "aclnnSwish": _with_numbers(lambda x, beta: x * sigmoid((1.0 if beta is None else beta) * x)),
}


def _gelu_v2(x: Any, approximate: int, y: Any) -> None:
    # "approximate: 0 for none, 1 for tanh"
    require(approximate in (0, 1), f"approximate {approximate}")
    store(y, gelu(wide(x), approximate == 1), dtype=x.dtype)


def _prelu(self: Any, weight: Any, out: Any) -> None:
    # One weight, or one for each channel, which is dimension 1.
    same_dtype(self, weight)
    channels = self.shape[1] if self.ndim > 1 else 1
    require(weight.size in (1, channels), f"{weight.size} weights for {channels} channels")
    slope = wide(weight).reshape(-1)
    if weight.size > 1:
        slope = slope.reshape(1, -1, *[1] * (self.ndim - 2))
    x = wide(self)
    store(out, np.where(x > 0, x, x * slope), dtype=self.dtype)


def _prelu_backward(grad: Any, self: Any, weight: Any, grad_input: Any, grad_weight: Any) -> None:
    g, x, slope = wide(grad), wide(self), wide(weight).reshape(-1)
    if weight.size > 1:
        slope = slope.reshape(1, -1, *[1] * (self.ndim - 2))
    store(grad_input, np.where(x > 0, g, g * slope), dtype=self.dtype)
    own = np.where(x > 0, 0, g * x)
    own = own.sum(tuple(d for d in range(self.ndim) if d != 1)) if weight.size > 1 else own.sum()
    store(grad_weight, own.reshape(weight.shape), dtype=weight.dtype)


def _halves(x: np.ndarray, dim: int) -> tuple[np.ndarray, np.ndarray]:
    at = axis(dim, x.ndim)
    require(x.shape[at] % 2 == 0, f"dimension {dim} is odd")
    first, second = np.split(x, 2, at)
    return first, second


def _glu(self: Any, dim: int, out: Any) -> None:
    first, second = _halves(wide(self), dim)
    store(out, first * sigmoid(second), dtype=self.dtype)


def _glu_backward(grad: Any, self: Any, dim: int, out: Any) -> None:
    first, second = _halves(wide(self), dim)
    g, gate = wide(grad), sigmoid(second)
    store(out, np.concatenate([g * gate, g * first * gate * (1 - gate)], axis(dim, self.ndim)), dtype=self.dtype)


def _swiglu(x: Any, dim: int, out: Any) -> None:
    # "A is the first half of x along dim, B the second; out = Swish(A) * B"
    first, second = _halves(wide(x), dim)
    store(out, first * sigmoid(first) * second, dtype=x.dtype)


def _swiglu_grad(grad: Any, x: Any, dim: int, out: Any) -> None:
    first, second = _halves(wide(x), dim)
    g, gate = wide(grad), sigmoid(first)
    slope = gate * (1 + first * (1 - gate))
    store(out, np.concatenate([g * second * slope, g * first * gate], axis(dim, x.ndim)), dtype=x.dtype)


def _geglu_of(x: Any, dim: int, approximate: int, left: bool, out: Any, out_gelu: Any) -> None:
    first, second = _halves(wide(x), dim)
    if left:
        first, second = second, first
    activated = gelu(second, approximate == 1)
    store(out, first * activated, dtype=x.dtype)
    store(out_gelu, activated, dtype=x.dtype)


def _geglu(self: Any, dim: int, approximate: int, out: Any, out_gelu: Any) -> None:
    # "A is the first half of self, B the second; out = A * Gelu(B)"; outGelu is Gelu(B)
    _geglu_of(self, dim, approximate, False, out, out_gelu)


def _geglu_v3(self: Any, dim: int, approximate: int, activate_left: bool, out: Any, out_gelu: Any) -> None:
    # "activateLeft: the first half is activated instead"
    _geglu_of(self, dim, approximate, activate_left, out, out_gelu)


EVALUATORS |= {
    "aclnnGeluV2": _gelu_v2,
    "aclnnPrelu": _prelu,
    "aclnnPreluBackward": _prelu_backward,
    "aclnnGlu": _glu,
    "aclnnGluBackward": _glu_backward,
    "aclnnSwiGlu": _swiglu,
    "aclnnSwiGluGrad": _swiglu_grad,
    "aclnnGeGlu": _geglu,
    "aclnnGeGluV3": _geglu_v3,
}

# -------------------- backward: of the gradient, what was kept, and numbers --------------------


def _backward(function: Function) -> Evaluator:
    """gradOutput, self or output, numbers, gradInput; dtypes agree and nothing is broadcast."""

    def evaluate(grad: Any, kept: Any, *rest: Any) -> None:
        *numbers, out = rest
        dtype = same_dtype(grad, kept)
        expect(grad, kept.shape)
        store(out, function(wide(grad), wide(kept), *numbers), dtype=dtype)

    return evaluate


def _silu_slope(x: np.ndarray) -> np.ndarray:
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


def _mish_slope(x: np.ndarray) -> np.ndarray:
    inner = np.tanh(softplus(x))
    return inner + x * sigmoid(x) * (1 - inner**2)


def _hardswish_slope(x: np.ndarray) -> np.ndarray:
    return np.where(x <= -3, 0, np.where(x < 3, x / 3 + 0.5, 1))


def _softplus_slope(x: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    return np.where(x * beta > threshold, 1, sigmoid(x * beta))


def _leaky(g: np.ndarray, x: np.ndarray, slope: float, is_result: bool) -> np.ndarray:
    # The sign of the result is that of self if the slope is positive.
    require(not is_result or slope >= 0, "of the result, with a negative slope")
    return np.where(x > 0, g, g * slope)


def _fast_gelu_slope(x: np.ndarray) -> np.ndarray:
    gate = sigmoid(1.702 * x)
    return gate + 1.702 * x * gate * (1 - gate)


def _selu_backward(g: np.ndarray, result: np.ndarray) -> np.ndarray:
    # Of the result: scale where it is positive, result + scale * alpha elsewhere.
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return g * np.where(result > 0, scale, result + scale * alpha)


BACKWARD: dict[str, Function] = {
    "SigmoidBackward": lambda g, y: g * y * (1 - y),
    "TanhBackward": lambda g, y: g * (1 - y * y),
    "SiluBackward": lambda g, x: g * _silu_slope(x),
    "GeluBackward": lambda g, x: g * gelu_slope(x),
    "FastGeluBackward": lambda g, x: g * _fast_gelu_slope(x),
    "MishBackward": lambda g, x: g * _mish_slope(x),
    "HardswishBackward": lambda g, x: g * _hardswish_slope(x),
    "HardswishBackwardV2": lambda g, x: g * _hardswish_slope(x),
    "HardsigmoidBackward": lambda g, x: np.where((x > -3) & (x < 3), g / 6, 0),
    "ThresholdBackward": lambda g, x, threshold: np.where(x <= threshold, 0, g),
    "LeakyReluBackward": _leaky,
    "SoftplusBackward": lambda g, x, beta, threshold: g * _softplus_slope(x, beta, threshold),
    "HardtanhBackward": lambda g, x, low, high: np.where((x > low) & (x < high), g, 0),
    "HardshrinkBackward": lambda g, x, lambd: np.where((x >= -lambd) & (x <= lambd), 0, g),
    "SoftshrinkBackward": lambda g, x, lambd: np.where((x >= -lambd) & (x <= lambd), 0, g),
    "SeluBackward": _selu_backward,
    "SwishBackward": lambda g, x, beta: g
    * (sigmoid(beta * x) + beta * x * sigmoid(beta * x) * (1 - sigmoid(beta * x))),
}
EVALUATORS |= {f"aclnn{name}": _backward(function) for name, function in BACKWARD.items()}


def _gelu_backward_v2(grad: Any, self: Any, approximate: str | None, out: Any) -> None:
    # "approximate: none or tanh", a string here and a number forward
    require(approximate in ("none", "tanh"), f"approximate {approximate!r}")
    store(out, wide(grad) * gelu_slope(wide(self), approximate == "tanh"), dtype=same_dtype(grad, self))


def _elu_backward(
    grad: Any, alpha: float, scale: float, input_scale: float, is_result: bool, kept: Any, out: Any
) -> None:
    # "isResult: selfOrResult is the output of the forward pass"
    g, x = wide(grad), wide(kept)
    if is_result:
        below = input_scale * (x + alpha * scale)
    else:
        below = input_scale * alpha * scale * np.exp(np.minimum(x, 0) * input_scale)
    store(out, g * np.where(x <= 0, below, scale), dtype=same_dtype(grad, kept))


def _log_sigmoid_forward(self: Any, out: Any, buffer: Any) -> None:
    # "buffer: keeps an intermediate result, not used at present": nothing is written to it
    store(out, -softplus(-real(self)), dtype=self.dtype)


def _log_sigmoid_backward(grad: Any, self: Any, buffer: Any, out: Any) -> None:
    # gradInput = gradOutput / (1 + exp(x)); "buffer: not used at present"
    store(out, wide(grad) * sigmoid(-wide(self)), dtype=same_dtype(grad, self))


EVALUATORS |= {
    "aclnnGeluBackwardV2": _gelu_backward_v2,
    "aclnnEluBackward": _elu_backward,
    "aclnnLogSigmoidForward": _log_sigmoid_forward,
    "aclnnLogSigmoidBackward": _log_sigmoid_backward,
}

# -------------------- softmax --------------------


def softmax(x: np.ndarray, dim: int) -> np.ndarray:
    """exp(x) over its sum along a dimension."""
    if not x.size:
        return x
    powers = np.exp(x - x.max(dim, keepdims=True))
    return powers / powers.sum(dim, keepdims=True)


def log_softmax(x: np.ndarray, dim: int) -> np.ndarray:
    """x minus the logarithm of the sum of exp(x)."""
    if not x.size:
        return x
    shifted = x - x.max(dim, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))


def _softmax(function: Function) -> Evaluator:
    def evaluate(self: Any, dim: int, out: Any) -> None:
        x = real(self)
        at = axis(dim, self.ndim)
        store(out, function(x.reshape(x.shape or (1,)), at).reshape(x.shape))

    return evaluate


def _softmax_backward(grad: Any, output: Any, dim: int, out: Any) -> None:
    g, y = wide(grad), wide(output)
    at = axis(dim, y.ndim)
    g, y = (each.reshape(each.shape or (1,)) for each in (g, y))
    store(out, (y * (g - (g * y).sum(at, keepdims=True))).reshape(grad.shape))


def _log_softmax_backward(grad: Any, output: Any, dim: int, out: Any) -> None:
    g, y = wide(grad), wide(output)
    at = axis(dim, y.ndim)
    g, y = (each.reshape(each.shape or (1,)) for each in (g, y))
    store(out, (g - np.exp(y) * g.sum(at, keepdims=True)).reshape(grad.shape))


EVALUATORS |= {
    "aclnnSoftmax": _softmax(softmax),
    "aclnnLogSoftmax": _softmax(log_softmax),
    "aclnnSoftmaxBackward": _softmax_backward,
    "aclnnLogSoftmaxBackward": _log_softmax_backward,
}
