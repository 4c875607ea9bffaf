"""Losses of pairs and of counts. The reductions are torch's numbers: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import math

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

_MEAN, _SUM = 1, 2


def _reduced(losses: Tensor, reduction: int) -> Tensor:
    if reduction == _MEAN:
        return losses.mean()
    return losses.sum() if reduction == _SUM else losses


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """The distance of pairs with target 1, and how much that of pairs with -1 is below the margin."""
    zeros = ops.zeros_like(input)
    apart = ops.where(target != 1, (ops.full_like(input, margin) - input).clamp_min(0), zeros)
    return _reduced(apart + ops.where(target != -1, input, zeros), reduction)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """How far the wrong one of two numbers is ahead; target is 1 where the first should be larger, else -1."""
    ahead = input1 - input2
    return _reduced(ops.add_Scalar(-target * ahead, margin).clamp_min(0), reduction)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """1 minus the cosine of pairs with target 1, and the cosine above the margin of those with -1."""
    _check_cosine_shapes(input1, input2, target)
    product = (input1 * input2).sum(-1)
    squares = ((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)
    cosine = product / squares.sqrt()
    zeros = ops.zeros_like(cosine)
    near = ops.where(target == 1, ops.ones_like(cosine) - cosine, zeros)
    apart = ops.where(target == -1, ops.sub_Scalar(cosine, margin).clamp_min(0), zeros)
    return _reduced(near + apart, reduction)


def _check_cosine_shapes(input1: Tensor, input2: Tensor, target: Tensor) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    wanted = target.ndim + 1
    if input1.ndim != wanted or input2.ndim != wanted:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {wanted}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, p: float, eps: float, swap: bool, reduction: int
) -> Tensor:
    """How much farther, with a margin, the anchor is from its own kind than from the other."""
    ranks = [each.ndim for each in (anchor, positive, negative)]
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            "anchor {}D, positive {}D, and negative {}D inputs".format(*ranks)
        )
    near = pair_distance(anchor, positive, p, eps)
    far = pair_distance(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, pair_distance(positive, negative, p, eps))
    return _reduced((ops.add_Scalar(near, margin) - far).clamp_min(0), reduction)


def pair_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool = False) -> Tensor:
    """The p-norm of the differences of vectors along the last dimension."""
    return ops.norm(ops.add_Scalar(x1 - x2, float(eps)), p, -1, keepdim)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """The negative log likelihood of counts; input is the rate, or its logarithm."""
    # The product first, as in torch: in 16 bits, the order in which its gradients are added matters.
    expected = target * (input if log_input else ops.add_Scalar(input, eps).log())
    losses = (input.exp() if log_input else input) - expected
    if full:
        half_log = ops.mul_Scalar(ops.mul_Scalar(target, 2 * math.pi).log(), 0.5)
        stirling = target * target.log() - target + half_log
        losses = (losses + stirling.masked_fill(target <= 1, 0)).to(losses.dtype)
    return _reduced(losses, reduction)
