"""Distances of vectors, and the losses that are made of them; `functional` exports them."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import result_type
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.composite.loss.pair_losses import pair_distance
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.by_hand import check_arguments
from mindtorch.dispatch.modes.autocast import with_autocast
from mindtorch.iterator.shapes import broadcast_shapes
from mindtorch.nn.reduction import legacy_reduction, reduced, reduction_number


@with_autocast(npu="fp32")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension."""
    check_arguments("cosine_similarity(Tensor x1, Tensor x2, int dim, float eps) -> Tensor", x1, x2, dim, eps)
    dtype = result_type(x1, x2)
    if not dtype.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {dtype.storage_name}")
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    shape = broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = (_prepared(x, dtype, shape) for x in (x1, x2))
    return (x1 / _length(x1, dim, eps) * (x2 / _length(x2, dim, eps))).sum(dim)


def _prepared(x: Tensor, dtype: Dtype, shape: tuple[int, ...]) -> Tensor:
    x = x if x.is_floating_point() else x.to(dtype)
    return x if tuple(x.shape) == tuple(shape) else x.expand(shape)


def _length(x: Tensor, dim: int, eps: float) -> Tensor:
    """The norm, at least eps. The bound is out of sight for the gradient, as in torch."""
    length = ops.linalg_vector_norm(x, 2, dim, True).clone()
    with no_grad():
        length.clamp_min_(eps)
    return length


_PAIRWISE = "pairwise_distance(Tensor x1, Tensor x2, float p, float eps, bool keepdim) -> Tensor"


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of the differences of vectors along the last dimension."""
    check_arguments(_PAIRWISE, x1, x2, p, eps, keepdim)
    return pair_distance(x1, x2, p, eps, keepdim)


def _number(reduction: str, size_average: Any, reduce: Any) -> int:
    return reduction_number(legacy_reduction(size_average, reduce, reduction))


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """The halved squared difference up to delta, and a straight line above it."""
    if weight is None:
        return ops.huber_loss(input, target, reduction_number(reduction), delta)
    losses = ops.huber_loss(input, target, reduction_number("none"), delta)
    return reduced(losses * weight, reduction_number(reduction))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far the wrong one of two numbers is ahead; target is 1 where the first should be larger, else -1."""
    number = _number(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return ops.margin_ranking_loss(input1, input2, target, margin, number)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 minus the cosine of pairs with target 1, and the cosine above the margin of those with -1."""
    return ops.cosine_embedding_loss(input1, input2, target, margin, _number(reduction, size_average, reduce))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much farther, with a margin, the anchor is from its own kind than from the other."""
    number = _number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return ops.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)
