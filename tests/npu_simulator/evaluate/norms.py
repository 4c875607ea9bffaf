"""Normalizations, forward and backward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    Evaluator,
    expect,
    is_floating,
    is_younger_chip,
    refuse,
    require,
    same_dtype,
    store,
    store_if,
    wide,
)

EVALUATORS: dict[str, Evaluator] = {}


def _statistic(out: Any, values: np.ndarray, input: Any) -> None:
    """A mean or the like, in a floating dtype that is no narrower than the input's."""
    if out is None:
        return
    require(is_floating(out.dtype) and out.dtype.itemsize >= input.dtype.itemsize, f"statistics in {out.dtype}")
    store(out, values)


def _weight(weight: Any, shape: Sequence[int], input: Any) -> Any:
    """A factor or an addend: null, or of that shape, in the input's dtype or float32."""
    if weight is None:
        return None
    expect(weight, shape)
    require(weight.dtype in (input.dtype, np.float32), f"a weight of {weight.dtype} for {input.dtype}")
    return wide(weight)


def _normed_rank(input: Any, shape: Sequence[int] | None) -> int:
    if input is None or shape is None:
        refuse("a required argument is null", 161001)
    require(
        len(shape) > 0 and input.shape[input.ndim - len(shape) :] == tuple(shape), f"{tuple(shape)} of {input.shape}"
    )
    return len(shape)


# -------------------- layers --------------------


def _layer_norm(input: Any, shape: Any, weight: Any, bias: Any, eps: float, out: Any, mean: Any, rstd: Any) -> None:
    # meanOut = E[x], rstdOut = 1 / sqrt(Var[x] + eps), both of shape [A1..Ai, 1..1]
    rank = _normed_rank(input, shape)
    x, dims = wide(input), tuple(range(-rank, 0))
    middle = x.mean(dims, keepdims=True)
    scale = 1 / np.sqrt(((x - middle) ** 2).mean(dims, keepdims=True) + eps)
    factor, addend = _weight(weight, shape, input), _weight(bias, shape, input)
    result = (x - middle) * scale
    result = result if factor is None else result * factor
    store(out, result if addend is None else result + addend, dtype=input.dtype)
    _statistic(mean, middle, input)
    _statistic(rstd, scale, input)


def _layer_norm_backward(
    grad: Any, input: Any, shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any, mask: Any, grad_input: Any,
    grad_weight: Any, grad_bias: Any,
) -> None:  # fmt: skip
    rank = _normed_rank(input, shape)
    require(mask is not None and len(mask) == 3, "outputMask has 3 values")
    expect(grad, input.shape)
    lead = input.shape[: input.ndim - rank] + (1,) * rank
    expect(mean, lead)
    expect(rstd, lead)
    x, g, scale = wide(input), wide(grad), wide(rstd)
    normed = (x - wide(mean)) * scale
    factor = _weight(weight, shape, input)
    weighted, dims = g if factor is None else g * factor, tuple(range(-rank, 0))
    inner = weighted.mean(dims, keepdims=True) + normed * (weighted * normed).mean(dims, keepdims=True)
    outer = tuple(range(input.ndim - rank))
    store_if(grad_input, lambda: (weighted - inner) * scale, mask[0], dtype=same_dtype(grad, input))
    store_if(grad_weight, lambda: (g * normed).sum(outer), mask[1])
    store_if(grad_bias, lambda: g.sum(outer), mask[2])
    require(grad_input is not None or not mask[0], "outputMask wants a gradient that is null")


def rms(x: np.ndarray, rank: int, epsilon: float) -> np.ndarray:
    """1 / sqrt(mean(x x) + epsilon) over the last dimensions, which stay as 1."""
    return 1 / np.sqrt((x * x).mean(tuple(range(-rank, 0)), keepdims=True) + epsilon)


def _rms_norm(x: Any, gamma: Any, epsilon: float, y: Any, rstd: Any) -> None:
    # rstdOut: "the reciprocal of Rms(x)", float32, normed dimensions are 1
    rank = _normed_rank(x, gamma.shape if gamma is not None else None)
    values = wide(x)
    scale = rms(values, rank, epsilon)
    store(y, values * scale * _weight(gamma, gamma.shape, x), dtype=x.dtype)
    store(rstd, scale, dtype=np.dtype("float32"))


def _rms_norm_grad(dy: Any, x: Any, rstd: Any, gamma: Any, dx: Any, dgamma: Any) -> None:
    rank = _normed_rank(x, gamma.shape if gamma is not None else None)
    values, g, scale = wide(x), wide(dy), wide(rstd)
    weighted, normed = g * wide(gamma), values * scale
    inner = (weighted * normed).mean(tuple(range(-rank, 0)), keepdims=True)
    store(dx, (weighted - normed * inner) * scale, dtype=same_dtype(dy, x))
    store(dgamma, (g * normed).sum(tuple(range(x.ndim - rank))), dtype=np.dtype("float32"))


def _add_rms_norm(x1: Any, x2: Any, gamma: Any, epsilon: float, y: Any, rstd: Any, x: Any) -> None:
    # xOut = x1 + x2, in their dtype, and its RmsNorm
    same_dtype(x1, x2)
    expect(x2, x1.shape)
    total = (wide(x1) + wide(x2)).astype(x1.dtype)
    _rms_norm(total, gamma, epsilon, y, rstd)
    store(x, total, dtype=x1.dtype)


EVALUATORS |= {
    "aclnnLayerNorm": _layer_norm,
    "aclnnLayerNormBackward": _layer_norm_backward,
    "aclnnRmsNorm": _rms_norm,
    "aclnnRmsNormGrad": _rms_norm_grad,
    "aclnnAddRmsNorm": _add_rms_norm,
}

# -------------------- groups --------------------


def _group_normed(self: Any, gamma: Any, beta: Any, n: int, c: int, hxw: int, group: int, eps: float) -> Any:
    """The result, the means, and 1 / sqrt(Var[x] + eps), both of shape (N, group)."""
    require(self.size == n * c * hxw and group > 0 and c % group == 0, f"{self.shape} as {n} x {c} x {hxw}")
    x = wide(self).reshape(n, group, -1)
    middle = x.mean(2, keepdims=True)
    scale = 1 / np.sqrt(((x - middle) ** 2).mean(2, keepdims=True) + eps)
    result = ((x - middle) * scale).reshape(n, c, hxw)
    for weight, function in ((gamma, np.multiply), (beta, np.add)):
        own = _weight(weight, (c,), self)
        result = result if own is None else function(result, own[:, None])
    return result.reshape(self.shape), middle[..., 0], scale[..., 0]


def _group_norm(
    self: Any, gamma: Any, beta: Any, n: int, c: int, hxw: int, group: int, eps: float, out: Any, mean: Any, rstd: Any
) -> None:
    # meanOut = E[x], rstdOut = 1 / sqrt(Var[x] + eps), both of shape (N, group)
    result, middle, scale = _group_normed(self, gamma, beta, n, c, hxw, group, eps)
    store(out, result, dtype=self.dtype)
    _statistic(mean, middle, self)
    _statistic(rstd, scale, self)


def _group_norm_silu(self: Any, gamma: Any, beta: Any, group: int, eps: float, out: Any, mean: Any, rstd: Any) -> None:
    sizes = *self.shape[:2], math.prod(self.shape[2:])
    result, middle, scale = _group_normed(self, gamma, beta, *sizes, group, eps)
    store(out, result / (1 + np.exp(-result)), dtype=self.dtype)
    _statistic(mean, middle, self)
    _statistic(rstd, scale, self)


def _group_norm_backward(
    grad: Any, input: Any, mean: Any, rstd: Any, gamma: Any, n: int, c: int, hxw: int, group: int, mask: Any,
    grad_input: Any, grad_gamma: Any, grad_beta: Any,
) -> None:  # fmt: skip
    require(input.size == n * c * hxw and mean.size == rstd.size == n * group, "sizes differ")
    x, g = (wide(each).reshape(n, group, -1) for each in (input, grad))
    scale = wide(rstd).reshape(n, group, 1)
    normed = (x - wide(mean).reshape(n, group, 1)) * scale
    factor = 1 if gamma is None else np.repeat(wide(gamma), hxw).reshape(1, group, -1)
    weighted = g * factor
    inner = weighted.mean(2, keepdims=True) + normed * (weighted * normed).mean(2, keepdims=True)
    by_channel = (n, c, hxw)
    dtype = same_dtype(grad, input)
    store_if(grad_input, lambda: ((weighted - inner) * scale).reshape(input.shape), mask[0], dtype=dtype)
    store_if(grad_gamma, lambda: (g * normed).reshape(by_channel).sum((0, 2)), mask[1])
    store_if(grad_beta, lambda: g.reshape(by_channel).sum((0, 2)), mask[2])


EVALUATORS["aclnnGroupNormSilu"] = _group_norm_silu
EVALUATORS |= {"aclnnGroupNorm": _group_norm, "aclnnGroupNormBackward": _group_norm_backward}

# -------------------- batches --------------------


def _by_channel(values: np.ndarray, rank: int) -> np.ndarray:
    return values.reshape(1, -1, *[1] * (rank - 2))


def _batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float,
    eps: float, out: Any, save_mean: Any, save_invstd: Any,
) -> None:  # fmt: skip
    # saveMean, saveInvstd: "written in training only"; "saveInvstd: on A2 and A3 the variance of the input, on 950 the
    # reciprocal of its standard deviation". Running statistics change in place, by the unbiased variance.
    require(input is not None and input.ndim >= 2, "an input of (N, C, ..) is needed")
    x, channels = wide(input), (input.shape[1],)
    dims = (0, *range(2, x.ndim))
    if training:
        mean, var = x.mean(dims), x.var(dims)
        _update(running_mean, running_var, mean, var, momentum, x.size // channels[0])
    else:
        if running_mean is None or running_var is None:
            refuse("without training the running statistics are needed", 161001)
        mean, var = wide(running_mean), wide(running_var)
    invstd = 1 / np.sqrt(var + eps)
    result = (x - _by_channel(mean, x.ndim)) * _by_channel(invstd, x.ndim)
    for own, function in ((weight, np.multiply), (bias, np.add)):
        if own is not None:
            expect(own, channels)
            result = function(result, _by_channel(wide(own), x.ndim))
    store(out, result, dtype=input.dtype)
    if training:
        _statistic(save_mean, mean, input)
        _statistic(save_invstd, invstd if is_younger_chip() else var, input)


def _update(running_mean: Any, running_var: Any, mean: Any, var: Any, momentum: float, count: int) -> None:
    unbiased = var * count / max(count - 1, 1)
    for own, new in ((running_mean, mean), (running_var, unbiased)):
        if own is not None:
            store(own, (1 - momentum) * wide(own) + momentum * new)


def _batch_norm_backward(
    grad: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any, save_invstd: Any,
    training: bool, eps: float, mask: Any, grad_input: Any, grad_weight: Any, grad_bias: Any,
) -> None:  # fmt: skip
    require(mask is not None and len(mask) == 3, "outputMask has 3 values")
    x, g, rank = wide(input), wide(grad), input.ndim
    if not is_younger_chip():  # "the dtypes of all agree with that of gradOut"
        same_dtype(grad, input, weight, save_mean, save_invstd, *((running_mean, running_var) if not training else ()))
    if training:  # what the forward has saved: saveVar of the formulas, but for 950
        saved = wide(save_invstd)
        mean, invstd = wide(save_mean), saved if is_younger_chip() else 1 / np.sqrt(saved + eps)
    else:
        mean, invstd = wide(running_mean), 1 / np.sqrt(wide(running_var) + eps)
    dims = (0, *range(2, rank))
    normed = (x - _by_channel(mean, rank)) * _by_channel(invstd, rank)
    own = _by_channel(invstd * (1 if weight is None else wide(weight)), rank)
    count = x.size // max(1, x.shape[1])
    total, correlated = g.sum(dims, keepdims=True), (g * normed).sum(dims, keepdims=True)
    inner = g - (total + normed * correlated) / count if training else g
    store_if(grad_input, lambda: inner * own, mask[0], dtype=same_dtype(grad, input))
    store_if(grad_weight, lambda: correlated.reshape(-1), mask[1])
    store_if(grad_bias, lambda: total.reshape(-1), mask[2])
    require(math.prod(grad.shape) == x.size, "sizes differ")


EVALUATORS |= {"aclnnBatchNorm": _batch_norm, "aclnnBatchNormBackward": _batch_norm_backward}
