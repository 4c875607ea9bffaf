"""Attention whose scores a function of the user changes, or leaves out by blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mindtorch._core.dtype import float32, float64
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn_once
from mindtorch.dispatch import ops
from mindtorch.nn.attention.block_mask import DEFAULT_BLOCK_SIZE as _DEFAULT_SPARSE_BLOCK_SIZE
from mindtorch.nn.attention.block_mask import (
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    noop_mask,
    or_masks,
    over_scores,
)

__all__ = [
    "_DEFAULT_SPARSE_BLOCK_SIZE", "AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask",
    "create_mask", "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip


class AuxRequest(NamedTuple):
    """What else is wanted of `flex_attention`."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What else `flex_attention` gives; None where it was not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention with `score_mod(score, batch, head, query, key)` for each score, where `block_mask` lets it through."""
    _check_inputs(query, key, value, enable_gqa)
    if block_mask is not None:
        _check_lengths(block_mask, query.shape[-2], key.shape[-2])
    groups = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(groups, dim=1) if groups > 1 else each for each in (key, value))
    scores = _scores(query, key, score_mod, block_mask, 1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    output = _probabilities(scores).to(query.dtype) @ value.to(query.dtype)
    if return_lse:
        _warn_old_lse()
        return output, scores.logsumexp(-1)
    if return_aux is None:
        return output
    lse = scores.logsumexp(-1) if return_aux.lse else None
    return output, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)


def _scores(query: Tensor, key: Tensor, score_mod: Callable | None, mask: BlockMask | None, scale: float) -> Tensor:
    scores = (query @ key.transpose(-2, -1)).to(float64 if query.dtype is float64 else float32) * scale
    if score_mod is not None:
        scores = over_scores(score_mod, *scores.shape, scores=scores, device=scores.device)
    if mask is None:
        return scores
    return ops.where(over_scores(mask.mask_mod, *scores.shape, device=scores.device), scores, -math.inf)


def _probabilities(scores: Tensor) -> Tensor:
    """The softmax; 0 for queries that may look at nothing."""
    nothing = (scores == -math.inf).all(dim=-1, keepdim=True)
    return scores.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)


# -------------------- arguments --------------------


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    if any(each.dim() != 4 for each in (query, key, value)):
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.shape[-3] == key.shape[-3]:
        return
    if not enable_gqa:
        raise ValueError(
            "Expect query and key/value to have the same number of heads "
            f"but got Hq={query.shape[-3]} and Hkv={key.shape[-3]}. Try setting enable_gqa=True for GQA."
        )
    if query.shape[1] % key.shape[1]:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA "
            f"but got Hq={query.shape[1]} and Hkv={key.shape[1]}."
        )


def _check_lengths(mask: BlockMask, q_len: int, kv_len: int) -> None:
    if q_len > mask.seq_lengths[0] or kv_len > mask.seq_lengths[1]:
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape} but got q_len={q_len} and kv_len={kv_len}. As "
            "the block mask was created for a smaller length than you're using it for, you likely need to create a new "
            "block mask."
        )
    if mask.seq_lengths != (q_len, kv_len):
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape} but got q_len={q_len} and kv_len={kv_len}. As "
            "the block mask was created for a larger length than you're using it for, you can either 1. create a new "
            "block mask with the correct length, or 2. 'adjust' the existing block mask to the correct length by "
            f"calling block_mask._adjust(q_len, kv_len). This essentially 'crops' the block mask to the upper left "
            "corner, which does not work for all mask_mods!"
        )


def _warn_old_lse() -> None:
    warn_once(
        "return_lse is deprecated and will be removed in v2.10. Please use return_aux=AuxRequest(lse=True) instead.",
        category=FutureWarning,
    )
