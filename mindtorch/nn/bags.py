"""Bags of embeddings; `functional` exports it."""

from __future__ import annotations

from mindtorch._core.dtype import int64
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops

_MODES = {"sum": 0, "mean": 1, "max": 2}


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of the rows of weight that each bag of indices names."""
    if weight.dtype is int64 and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
        )
        weight, input = input, weight
    _check(input, weight, offsets, per_sample_weights)
    if input.ndim == 2:
        step = input.size(1)
        offsets = ops.arange_start_step(0, input.numel(), step, dtype=input.dtype, device=input.device)
        include_last_offset = False
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    number = _mode_number(mode, scale_grad_by_freq, sparse)
    if max_norm is not None:
        with no_grad():
            ops.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    options = (scale_grad_by_freq, number, sparse, per_sample_weights, include_last_offset, padding_idx)
    return ops.embedding_bag_padding_idx(weight, input, offsets, *options)[0]


def _check(input: Tensor, weight: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None) -> None:
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
    elif input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")


def _mode_number(mode: str, scale_grad_by_freq: bool, sparse: bool) -> int:
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    return _MODES[mode]
