"""Losses of pairs and of counts. The reductions are torch's numbers: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import math

from mindtorch.dispatch import ops
from mindtorch.tensor import Tensor

_MEAN, _SUM = 1, 2


def _reduced(losses: Tensor, reduction: int) -> Tensor:
    if reduction == _MEAN:
        return losses.mean()
    return losses.sum() if reduction == _SUM else losses


def hinge_embedding_loss(input, target, margin=1.0, reduction=_MEAN):
    """The distance of pairs with target 1, and how much that of pairs with -1 is below the margin."""
    zeros = ops.zeros_like(input)
    apart = ops.where(target != 1, (ops.full_like(input, margin) - input).clamp_min(0), zeros)
    return _reduced(apart + ops.where(target != -1, input, zeros), reduction)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """The negative log likelihood of counts; input is the rate, or its logarithm."""
    # The product first, as in torch: in 16 bits, the order in which its gradients are added matters.
    expected = target * (input if log_input else ops.add_Scalar(input, eps).log())
    losses = (input.exp() if log_input else input) - expected
    if full:
        half_log = ops.mul_Scalar(ops.mul_Scalar(target, 2 * math.pi).log(), 0.5)
        stirling = target * target.log() - target + half_log
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return _reduced(losses, reduction)
