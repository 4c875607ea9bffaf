"""Losses that want a margin between right and wrong, and those of distributions; `functional` exports them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindtorch._core.dtype import float32, float64, int64
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.by_hand import check_arguments
from mindtorch.dispatch.modes.autocast import with_autocast
from mindtorch.iterator.checks import check_result_dtype
from mindtorch.iterator.shapes import check_inplace_shape
from mindtorch.nn.activations import logsigmoid
from mindtorch.nn.distances import pairwise_distance
from mindtorch.nn.reduction import legacy_reduction, reduced, reduction_number


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The distance of pairs with target 1, and how much that of pairs with -1 is below the margin."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    return ops.hinge_embedding_loss(input, target, margin, number)


@with_autocast(cpu="fp32", npu="fp32")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target * input)), for targets 1 and -1."""
    check_arguments("soft_margin_loss(Tensor self, Tensor target) -> Tensor", input, target)
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    product = -input * target  # not in place: with one input for many targets, vmap would refuse that
    check_inplace_shape(input, product.shape)  # the result has the input's shape and dtype
    check_result_dtype(product.dtype.numpy, input.dtype.numpy)
    return reduced(product.to(input.dtype).exp().log1p(), number)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of the cross entropy of each class by itself."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    dim = input.ndim - 1
    losses = (losses if weight is None else losses * weight).sum(dim) / input.shape[dim]
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return reduced(losses, reduction_number(reduction))


def _check_scores(input: Tensor) -> None:
    """A row of scores, or several, of one class at least."""
    if input.ndim > 2 or 0 in input.shape[-1:]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )


def _check_margin_dtype(kernel: str, input: Tensor) -> None:
    if input.dtype not in (float32, float64):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.storage_name}'")


def _check_classes(target: Tensor) -> None:
    if target.dtype is not int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.storage_name}")


@with_autocast(cpu="fp32", npu="fp32")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much the scores of wrong classes come within a margin of that of the right one."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    _check_scores(input)
    scores = input if input.ndim == 2 else input.reshape(1, -1)
    if target.ndim > 1 or target.numel() != len(scores):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{len(scores)}], but got {list(target.shape)}. Input has shape "
            f"{list(input.shape)}."
        )
    _check_margin_dtype("multi_margin_loss_cpu_kernel", input)
    _check_classes(target)
    targets = target.reshape(-1)
    places = targets.unsqueeze(1)
    excess = (margin - scores.gather(1, places) + scores).clamp_min(0).pow(p)
    if weight is not None:
        excess = excess * weight[targets].unsqueeze(1)
    losses = excess.scatter(1, places, 0.0).sum(1) / scores.shape[1]
    return reduced(losses.squeeze(0) if input.ndim < 2 else losses, number)


@with_autocast(cpu="fp32", npu="fp32")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much the scores of classes that are no targets come within 1 of those that are; -1 ends a list of targets."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    _check_scores(input)
    fits = target.shape == input.shape if input.ndim == 2 else target.ndim < 2 and target.numel() == input.numel()
    if not fits:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    _check_margin_dtype("multilabel_margin_loss_forward_out_frame", input)
    _check_classes(target)
    scores, targets = (input, target) if input.ndim == 2 else (input.reshape(1, -1), target.reshape(1, -1))
    is_listed = (targets < 0).to(targets.dtype).cumsum(1) == 0
    places = targets.masked_fill(~is_listed, 0)
    counts = ops.zeros_like(targets).scatter_add(1, places, is_listed.to(targets.dtype))
    gaps = 1 - scores.gather(1, places).unsqueeze(2) + scores.unsqueeze(1)
    counted = is_listed.unsqueeze(2) & (counts == 0).unsqueeze(1)
    losses = gaps.masked_fill(~(counted & (gaps > 0)), 0).sum((1, 2)) / scores.shape[1]
    return reduced(losses.squeeze(0) if input.ndim < 2 else losses, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with any distance."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction_number(reduction))


# -------------------- distributions --------------------


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts; input is the rate, or its logarithm."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    return ops.poisson_nll_loss(input, target, log_input, full, eps, reduction_number(reduction))


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """The negative log likelihood of normal distributions with given variances."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * ops.ones_like(input)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    var = _fitting_variance(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction_number(reduction))


def _fitting_variance(input: Tensor, var: Tensor) -> Tensor:
    """One variance for each element, or one for all of the last or of another dimension."""
    if var.shape == input.shape:
        return var
    if input.shape[:-1] == var.shape:
        return var.unsqueeze(-1)
    if input.ndim == var.ndim and sum(own for n, own in zip(input.shape, var.shape) if n != own) == 1:
        return var
    raise ValueError("var is of incorrect size")
