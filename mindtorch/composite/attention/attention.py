"""Attention: as one op with its own gradient where torch has such a kernel, and step by step elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mindtorch._core import geometry
from mindtorch._core.dtype import bfloat16, float16, float32
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.formulas.attention.attention import later_keys, repeat_heads, scale_of
from mindtorch.backends.attention_choice import SDPBackend, is_allowed
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.dispatch import ops

_HALVES = (float16, bfloat16)
_FUSED_ON = ("cpu", "meta")  # where there is a kernel for all of it


def scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    _check_attention(query, key, value, attn_mask, is_causal)
    if dropout_p == 0 and _has_kernel(query, key, value, attn_mask, enable_gqa):
        return ops._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, 0.0, is_causal, attn_mask=attn_mask, scale=scale
        )[0]
    if not is_allowed(SDPBackend.MATH):
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the "
            "math kernel and the fused kernels."
        )
    if enable_gqa:
        key, value = (repeat_heads(tensor, query.shape[-3]) for tensor in (key, value))
    return _step_by_step(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _has_kernel(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, enable_gqa: bool) -> bool:
    """Whether torch computes it as one op, which has other strides and another node."""
    arrays = query._mt_array, key._mt_array, value._mt_array
    if query.device.type not in _FUSED_ON or not query.is_floating_point():
        return False
    if not all([array.ndim == 4 for array in arrays]):
        return False
    if mask is not None and (mask.ndim not in (2, 4) or mask.requires_grad):
        return False
    if not _shapes_match(*[array.shape for array in arrays], enable_gqa):
        return False
    rows_are_whole = all([geometry.strides_of(array)[-1] == 1 for array in arrays])
    return rows_are_whole and is_allowed(SDPBackend.FLASH_ATTENTION)


def _shapes_match(query: Sequence[int], key: Sequence[int], value: Sequence[int], enable_gqa: bool) -> bool:
    """Whether they are the same but for the number of places and, with grouped queries, of heads."""
    images, heads, _, size = query
    same_heads = heads == key[1] or (enable_gqa and key[1] != 0 and heads % key[1] == 0)
    return key == value and (images, size) == (key[0], key[3]) and same_heads and 0 not in (*query, *key)


def _step_by_step(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> Tensor:
    if query.dtype in _HALVES:
        wide = (tensor.to(float32) for tensor in (query, key, value))
        mask = mask.to(float32) if mask is not None and mask.is_floating_point() else mask
        return _step_by_step(*wide, mask, dropout_p, is_causal, scale).to(query.dtype)
    # Both factors carry the root of the scale, as in torch.
    root = math.sqrt(scale_of(query, scale))
    scores = ops.mul_Scalar(query, root) @ ops.mul_Scalar(key.transpose(-2, -1), root)
    if is_causal:
        scores = scores + _bias(later_keys(scores), scores)
    elif mask is not None:
        scores = scores + (_bias(~mask, scores) if mask.dtype is boolean else mask)
    weights = ops._safe_softmax(scores, -1)
    return ops.dropout(weights, dropout_p, True) @ value if dropout_p > 0 else weights @ value


def _bias(masked: Tensor, scores: Tensor) -> Tensor:
    """What is added to the scores to mask some: a sum keeps nothing for the gradient."""
    return scores.new_zeros(masked.shape).masked_fill(masked, -math.inf)


# -------------------- checks --------------------


def _check_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    if not query._mt_array.dtype == key._mt_array.dtype == value._mt_array.dtype:
        names = [c_name(tensor._mt_array) for tensor in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, "
            f"but got query.dtype: {names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if query._mt_array.ndim < 2 or key._mt_array.ndim < 2 or value._mt_array.ndim < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, "
            f"but got query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if mask is None:
        return
    if mask.dtype not in (boolean, float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, "
            f"but got attn_mask.dtype: {c_name(mask._mt_array)} and  query.dtype: {c_name(query._mt_array)} instead."
        )
    if is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
