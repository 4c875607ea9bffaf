"""CTC, the loss of a sequence of labels whose places are not known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import int64
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.dispatch import ops

_MEAN, _SUM = 1, 2


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: tuple[int, ...],
    target_lengths: tuple[int, ...],
    blank: int = 0,
    reduction: int = _MEAN,
    zero_infinity: bool = False,
) -> Tensor:
    """The mean is over losses that are divided by the lengths of their targets."""
    is_batched = log_probs.ndim == 3
    batch = log_probs if is_batched else log_probs.unsqueeze(1)
    losses = ops._ctc_loss_default(batch, targets, input_lengths, target_lengths, blank, zero_infinity)[0]
    if zero_infinity:
        losses = ops.where(losses == math.inf, ops.zeros((), dtype=losses.dtype, device=losses.device), losses)
    if reduction == _MEAN:
        return (losses / _divisors(target_lengths).to(losses)).mean()
    if reduction == _SUM:
        return losses.sum()
    return losses if is_batched else losses.squeeze(0)


def _divisors(lengths: Sequence[int]) -> Tensor:
    return wrap(np.maximum(np.array(lengths, np.int64), 1))


def ctc_loss_tensor(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: int = _MEAN,
    zero_infinity: bool = False,
) -> Tensor:
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype is boolean:
            raise RuntimeError(f"{name} must be integral")
    inputs, wanted = (tuple(each.reshape(-1).tolist()) for each in (input_lengths, target_lengths))
    return ctc_loss(log_probs, targets.to(int64), inputs, wanted, blank, reduction, zero_infinity)
