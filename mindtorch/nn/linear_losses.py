"""`linear_cross_entropy`: the cross entropy of what a linear layer makes of its input, and the options of the loss."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import int64
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops
from mindtorch.nn.reduction import reduction_number


@dataclass
class LinearCrossEntropyOptions:
    """How the loss could be computed in parts, to save memory. Here it is computed at once, whatever they are."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Dtype | None = None


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight), target)`; a weight of more dimensions makes a loss of as many."""
    _check_shapes(input, linear_weight, linear_bias)
    has_classes = not target.is_floating_point()
    if ignore_index is not None and not has_classes:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    classes, *rest, features = linear_weight.shape
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = ops.linear(input, linear_weight.reshape(classes * prod(rest), features), bias)
    if rest:
        logits = logits.reshape(*input.shape[:-1], classes, *rest)
    if options is not None and (rest or label_smoothing or target.dtype is not int64):
        _warn_of_options(linear_weight, target, linear_bias, reduction, label_smoothing)
    ignored = -100 if ignore_index is None else ignore_index
    return ops.cross_entropy_loss(logits, target, weight, reduction_number(reduction), ignored, label_smoothing)


def _warn_of_options(
    weight: Tensor, target: Tensor, bias: Tensor | None, reduction: str, label_smoothing: float
) -> None:
    """Like torch, raises for chunked computation of these losses."""
    warn(
        "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
        "label_smoothing == 0, target.dtype == int64, out_features == (). Got "
        f"reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype={target.dtype}, "
        f"out_features={tuple(weight.shape[1:-1])}, tracing=False, "
        f"linear_bias.shape={None if bias is None else tuple(bias.shape)}.",
        UserWarning,
    )


def _check_shapes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.ndim}")
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    if weight.ndim > 2 and input.ndim < 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, "
            f"(N, {weight.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")
