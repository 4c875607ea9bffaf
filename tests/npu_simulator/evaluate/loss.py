"""Losses, forward and backward. "reduction: 0 none, 1 mean, 2 sum" throughout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    INT32,
    INT64,
    Evaluator,
    axis,
    broadcast,
    expect,
    promote,
    refuse,
    require,
    same_dtype,
    store,
    wide,
)
from tests.npu_simulator.evaluate.pointwise import sigmoid, softplus
from tests.npu_simulator.evaluate.reduction import store_one

EVALUATORS: dict[str, Evaluator] = {}
Function = Callable[..., np.ndarray]


def reduced(
    losses: np.ndarray, reduction: int, out: Any, dtype: np.dtype, castable_from: np.dtype | None = None
) -> None:
    """All losses, or their mean or sum as a single element."""
    require(reduction in (0, 1, 2), f"reduction {reduction}")
    if reduction == 0:
        return store(out, losses, castable_from=dtype)
    store_one(out, losses.mean() if reduction == 1 else losses.sum(), castable_from=dtype)


def _pair(self: Any, target: Any) -> tuple[np.dtype, np.ndarray, np.ndarray]:
    if self is None or target is None:
        refuse("a tensor is null", 161001)
    broadcast(self.shape, target.shape)
    x, y = np.broadcast_arrays(wide(self), wide(target))
    return promote(self.dtype, target.dtype), x, y


def _loss(function: Function) -> Evaluator:
    """self, target, reduction, numbers, out"""

    def evaluate(self: Any, target: Any, reduction: int, *rest: Any) -> None:
        *numbers, out = rest
        dtype, x, y = _pair(self, target)
        reduced(function(x, y, *numbers), reduction, out, dtype)

    return evaluate


def _gradient(function: Function) -> Evaluator:
    """gradOutput, self, target, reduction, numbers, gradInput; a mean is over the elements of what is broadcast."""

    def evaluate(grad: Any, self: Any, target: Any, reduction: int, *rest: Any) -> None:
        *numbers, out = rest
        require(reduction in (0, 1, 2), f"reduction {reduction}")
        dtype, x, y = _pair(self, target)
        slope = function(x, y, *numbers)
        result = wide(grad) * (slope / slope.size if reduction == 1 else slope)
        store(out, result, castable_from=promote(dtype, grad.dtype))

    return evaluate


def _smooth(x: np.ndarray, y: np.ndarray, beta: float) -> np.ndarray:
    # 0.5 d d / beta where |d| < beta, |d| - 0.5 beta elsewhere
    distance = np.abs(x - y)
    near = 0.5 * distance**2 / beta if beta else distance
    return np.where(distance < beta, near, distance - 0.5 * beta)


def _smooth_slope(x: np.ndarray, y: np.ndarray, beta: float) -> np.ndarray:
    distance = x - y
    return np.where(np.abs(distance) < beta, distance / beta if beta else distance, np.sign(distance))


def _divergence(x: np.ndarray, y: np.ndarray, log_target: bool) -> np.ndarray:
    if log_target:
        return np.exp(y) * (y - x)
    # "NaN where target <= 0": below it the logarithm is NaN; at 0 the term's limit is 0, which is what is computed
    return np.where(y == 0, 0, y * (np.log(np.where(y == 0, 1, y)) - x))


EVALUATORS |= {
    "aclnnMseLoss": _loss(lambda x, y: (x - y) ** 2),
    "aclnnL1Loss": _loss(lambda x, y: np.abs(x - y)),
    "aclnnSmoothL1Loss": _loss(_smooth),
    "aclnnSoftMarginLoss": _loss(lambda x, y: softplus(-x * y)),
    "aclnnKlDiv": _loss(_divergence),
    "aclnnMseLossBackward": _gradient(lambda x, y: 2 * (x - y)),
    "aclnnL1LossBackward": _gradient(lambda x, y: np.sign(x - y)),
    "aclnnSmoothL1LossBackward": _gradient(_smooth_slope),
    "aclnnSoftMarginLossBackward": _gradient(lambda x, y: -y * sigmoid(-x * y)),
    "aclnnKlDivBackward": _gradient(lambda x, y, log_target: -np.exp(y) if log_target else -np.maximum(y, 0)),
}

# -------------------- binary cross entropy --------------------


def _weighted(losses: np.ndarray, weight: Any) -> np.ndarray:
    if weight is None:
        return losses
    require(broadcast(weight.shape, losses.shape) == losses.shape, f"weights {weight.shape} for {losses.shape}")
    return losses * wide(weight)


def _bce(self: Any, target: Any, weight: Any, reduction: int, out: Any) -> None:
    # The logarithms are cut off at -100, or one wrong element would be infinite.
    dtype = same_dtype(self, target, weight)
    expect(target, self.shape)
    x, y = wide(self), wide(target)
    losses = -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log1p(-x), -100))
    reduced(_weighted(losses, weight), reduction, out, dtype)


def _bce_backward(grad: Any, self: Any, target: Any, weight: Any, reduction: int, out: Any) -> None:
    dtype = same_dtype(grad, self, target, weight)
    x, y = wide(self), wide(target)
    slope = _weighted((x - y) / np.maximum(x * (1 - x), 1e-12), weight)
    store(out, wide(grad) * (slope / x.size if reduction == 1 else slope), dtype=dtype)


def _logits_parts(self: Any, target: Any, positive: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    expect(target, self.shape)
    factor = np.ones(()) if positive is None else wide(positive)
    require(broadcast(factor.shape, self.shape) == self.shape, f"posWeight {factor.shape} for {self.shape}")
    return wide(self), wide(target), factor


def _bce_logits(self: Any, target: Any, weight: Any, positive: Any, reduction: int, out: Any) -> None:
    dtype = same_dtype(self, target, weight, positive)
    x, y, factor = _logits_parts(self, target, positive)
    losses = factor * y * softplus(-x) + (1 - y) * softplus(x)
    reduced(_weighted(losses, weight), reduction, out, dtype)


def _bce_logits_backward(
    grad: Any, self: Any, target: Any, weight: Any, positive: Any, reduction: int, out: Any
) -> None:
    dtype = same_dtype(grad, self, target, weight, positive)
    x, y, factor = _logits_parts(self, target, positive)
    slope = _weighted((1 - y) * sigmoid(x) - factor * y * sigmoid(-x), weight)
    store(out, wide(grad) * (slope / x.size if reduction == 1 else slope), dtype=dtype)


EVALUATORS |= {
    "aclnnBinaryCrossEntropy": _bce,
    "aclnnBinaryCrossEntropyBackward": _bce_backward,
    "aclnnBinaryCrossEntropyWithLogits": _bce_logits,
    "aclnnBinaryCrossEntropyWithLogitsBackward": _bce_logits_backward,
}

# -------------------- negative log likelihood --------------------


def _classes(self: Any, target: Any, weight: Any, ignored: int, at: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The class of each sample (0 where it is ignored), and its weight (0 there)."""
    if self is None or target is None or weight is None:
        refuse("self, target and weight are needed: without weights, ones", 161001)
    require(target.dtype in (INT32, INT64, np.uint8), f"a target of {target.dtype}")
    expect(target, self.shape[:at] + self.shape[at + 1 :])
    expect(weight, (self.shape[at],), dtype=self.dtype)
    given = wide(target)
    kept = given != ignored
    found = np.where(kept, given, 0)
    if found.size and (found.min() < 0 or found.max() >= self.shape[at]):
        raise IndexError(f"classes {found.min()} to {found.max()} of {self.shape[at]}")
    return found, np.where(kept, wide(weight)[found], 0), kept


def _nll(rank_at: Callable[[Any], int]) -> Evaluator:
    def evaluate(self: Any, target: Any, weight: Any, reduction: int, ignored: int, out: Any, total: Any) -> None:
        # "out has shape (N,) with reduction 0 and (N, C), else (1,)"; "totalWeightOut is valid unless reduction is 0"
        at = rank_at(self)
        found, own, _ = _classes(self, target, weight, ignored, at)
        picked = np.take_along_axis(wide(self), np.expand_dims(found, at), at).squeeze(at)
        losses = np.where(own == 0, 0, -picked * own)
        if reduction == 0:
            return store(out, losses, dtype=self.dtype)
        require(reduction in (1, 2), f"reduction {reduction}")
        store_one(out, losses.sum() / own.sum() if reduction == 1 else losses.sum(), dtype=self.dtype)
        store_one(total, own.sum(), dtype=self.dtype)

    return evaluate


def _nll_backward(rank_at: Callable[[Any], int]) -> Evaluator:
    def evaluate(
        grad: Any, self: Any, target: Any, weight: Any, reduction: int, ignored: int, total: Any, out: Any
    ) -> None:
        at = rank_at(self)
        found, own, _ = _classes(self, target, weight, ignored, at)
        require(total is not None and total.size == 1, "totalWeight is needed")
        share = -own / wide(total).reshape(()) if reduction == 1 else -own
        g = wide(grad).reshape(()) if grad.size == 1 and found.size != 1 else wide(grad).reshape(found.shape)
        result = np.zeros(self.shape)
        values = np.where(own == 0, 0, share * g)
        np.put_along_axis(result, np.expand_dims(found, at), np.expand_dims(values, at), at)
        store(out, result, dtype=self.dtype)

    return evaluate


def _flat(self: Any) -> int:
    require(self is not None and self.ndim in (1, 2), "self is (N, C) or (C)")
    return int(self.ndim - 1)


def _planes(self: Any) -> int:
    require(self is not None and self.ndim == 4, "self is (N, C, H, W)")
    return 1


EVALUATORS |= {
    "aclnnNLLLoss": _nll(_flat),
    "aclnnNLLLossBackward": _nll_backward(_flat),
    "aclnnNLLLoss2d": _nll(_planes),
    "aclnnNLLLoss2dBackward": _nll_backward(_planes),
}

# -------------------- distances --------------------


def _cdist(x1: Any, x2: Any, p: float, mode: int, out: Any) -> None:
    one, other = wide(x1), wide(x2)
    distance = np.abs(one[..., :, None, :] - other[..., None, :, :])
    if p == 0:
        result = (distance != 0).sum(-1)
    else:
        result = distance.max(-1, initial=0) if np.isinf(p) else (distance**p).sum(-1) ** (1 / p)
    store(out, result, dtype=same_dtype(x1, x2))


def _pdist(self: Any, p: float, out: Any) -> None:
    x = wide(self)
    rows, columns = np.triu_indices(len(x), 1)
    distance = np.abs(x[rows] - x[columns])
    if p == 0:
        return store(out, (distance != 0).sum(1), castable_from=self.dtype)
    store(out, distance.max(1, initial=0) if np.isinf(p) else (distance**p).sum(1) ** (1 / p), dtype=self.dtype)


def _renorm(self: Any, p: float, dim: int, maximum: float, out: Any) -> None:
    x, at = wide(self), axis(dim, self.ndim)
    others = tuple(d for d in range(self.ndim) if d != at)
    size = (np.abs(x) ** float(p)).sum(others, keepdims=True) ** (1 / float(p))
    store(out, np.where(size > maximum, x * maximum / (size + 1e-7), x), dtype=self.dtype)


EVALUATORS |= {"aclnnCdist": _cdist, "aclnnPdist": _pdist, "aclnnPdistForward": _pdist, "aclnnRenorm": _renorm}
