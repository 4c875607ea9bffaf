"""Multi-head attention as a function, and its masks; `functional` exports it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.backends.attention_choice import SDPBackend as SDPBackend
from mindtorch.backends.attention_choice import sdpa_kernel as sdpa_kernel
from mindtorch.dispatch import ops


def canonical_mask(
    mask: Tensor | None, name: str, other: Tensor | None, other_name: str, dtype: Dtype, stacklevel: int = 3
) -> Tensor | None:
    """The mask as numbers that are added to the scores: 0, or -inf for what is left out."""
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if mask.dtype is not boolean and not is_float:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype is not other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=stacklevel,
        )
    return mask if is_float else ops.zeros_like(mask, dtype=dtype).masked_fill_(mask, -math.inf)


class _Heads(NamedTuple):
    """Queries, keys and values, a matrix for each head of each member of the batch, and what is added to the scores."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    padding: Tensor | None

    def with_row(self, key: Tensor, value: Tensor) -> _Heads:
        """One more key and value, which everything may look at."""
        masks = (None if each is None else ops.pad(each, (0, 1)) for each in (self.mask, self.padding))
        rows = ops.cat([self.key, key], 1), ops.cat([self.value, value], 1)
        return _Heads(self.query, *rows, *masks)


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads between projections of query, key and value; with the weights, if they are needed."""
    is_batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    key_padding_mask = canonical_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype)
        is_causal = is_causal and key_padding_mask is None
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    own = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    projected = _project(query, key, value, in_proj_weight, in_proj_bias, own)
    attn_mask = _checked_mask(attn_mask, (query.shape[0], key.shape[0]), query.shape[1] * num_heads)
    heads = _split_heads(projected, num_heads, attn_mask, key_padding_mask, (static_k, static_v))
    if bias_k is not None and bias_v is not None:
        heads = _with_biases(heads, bias_k, bias_v, num_heads, static_k, static_v)
    if add_zero_attn:
        zero = heads.key.new_zeros((heads.key.shape[0], 1, heads.key.shape[2]))
        heads = heads.with_row(zero, zero)
    mask = _merged_mask(heads, num_heads)
    attend = _attend_with_weights if need_weights else _attend
    result, weights = attend(heads, mask, num_heads, dropout_p if training else 0.0, is_causal)
    length, batch, width = query.shape
    rows = result.transpose(0, 1).reshape(length * batch, width)
    output = ops.linear(rows, out_proj_weight, out_proj_bias).view(length, batch, -1)
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if not is_batched:
        return output.squeeze(1), None if weights is None else weights.squeeze(0)
    return output, weights


# -------------------- steps --------------------


def _project(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None, own: Any
) -> list[Tensor]:
    biases: Sequence[Tensor | None]
    if own is not None:
        weights = own
    else:
        assert weight is not None  # there is one for all, or three
        if query is key is value:
            return _project_at_once(query, weight, bias, 3)
        if key is value:
            width = query.shape[-1]
            weights = weight.split([width, width * 2])
            biases = (None, None) if bias is None else bias.split([width, width * 2])
            return [ops.linear(query, weights[0], biases[0]), *_project_at_once(key, weights[1], biases[1], 2)]
        weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return [ops.linear(each, w, b) for each, w, b in zip((query, key, value), weights, biases)]


def _project_at_once(tensor: Tensor, weight: Tensor, bias: Tensor | None, count: int) -> list[Tensor]:
    """Several projections of one tensor."""
    projected = ops.linear(tensor, weight, bias).unflatten(-1, (count, tensor.shape[-1]))
    parts = projected.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return [parts[place] for place in range(count)]


def _split_heads(
    projected: list[Tensor], num_heads: int, mask: Tensor | None, padding: Tensor | None, static: tuple[Any, Any]
) -> _Heads:
    query, key, value = (_by_head(each, num_heads) for each in projected)
    key, value = (own if given is None else given for own, given in zip((key, value), static))
    return _Heads(query, key, value, mask, padding)


def _by_head(tensor: Tensor, num_heads: int) -> Tensor:
    """(length, batch, width) as (batch * heads, length, width / heads)."""
    length, batch, width = tensor.shape
    return tensor.reshape(length, batch * num_heads, width // num_heads).transpose(0, 1)


def _with_biases(
    heads: _Heads, bias_k: Tensor, bias_v: Tensor, num_heads: int, static_k: Tensor | None, static_v: Tensor | None
) -> _Heads:
    for name, given in (("key", static_k), ("value", static_v)):
        if given is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")
    batch = heads.key.shape[0] // num_heads
    return heads.with_row(*(_by_head(each.repeat(1, batch, 1), num_heads) for each in (bias_k, bias_v)))


def _merged_mask(heads: _Heads, num_heads: int) -> Tensor | None:
    if heads.padding is None:
        return heads.mask
    batch, length = heads.key.shape[0] // num_heads, heads.key.shape[1]
    for dim, size in enumerate((batch, length)):
        if heads.padding.shape[dim] != size:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{dim}] to be {size}, but got {heads.padding.shape[dim]}"
            )
    padding = heads.padding.reshape(batch, 1, 1, length).expand(-1, num_heads, -1, -1)
    padding = padding.reshape(batch * num_heads, 1, length)
    return padding if heads.mask is None else heads.mask + padding


def _attend_with_weights(
    heads: _Heads, mask: Tensor | None, num_heads: int, dropout_p: float, is_causal: bool
) -> tuple[Tensor, Tensor]:
    scaled = heads.query * math.sqrt(1.0 / heads.query.shape[-1])
    turned = heads.key.transpose(-2, -1)
    scores = ops.bmm(scaled, turned) if mask is None else ops.baddbmm(mask, scaled, turned)
    weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = ops.dropout(weights, dropout_p, True)
    batch = heads.query.shape[0] // num_heads
    return ops.bmm(weights, heads.value), weights.reshape(batch, num_heads, *weights.shape[1:])


def _attend(
    heads: _Heads, mask: Tensor | None, num_heads: int, dropout_p: float, is_causal: bool
) -> tuple[Tensor, None]:
    batch = heads.query.shape[0] // num_heads
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.reshape(batch, num_heads, -1, mask.shape[-1])
    query, key, value = (each.reshape(batch, num_heads, *each.shape[1:]) for each in heads[:3])
    result = ops.scaled_dot_product_attention(query, key, value, mask, dropout_p, is_causal)
    return result.reshape(batch * num_heads, *result.shape[2:]), None


# -------------------- checks --------------------


def _check_shapes(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether there is a batch."""
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    ndim, kind = query.ndim, "batched" if query.ndim == 3 else "unbatched"
    head = f"For {kind} ({ndim}-D) `query`, expected"
    if key.ndim != ndim or value.ndim != ndim:
        raise AssertionError(
            f"{head} `key` and `value` to be {ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.ndim != ndim - 1:
        raise AssertionError(
            f"{head} `key_padding_mask` to be `None` or {ndim - 1}-D "
            f"but found {key_padding_mask.ndim}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.ndim not in (2, 3):
        raise AssertionError(f"{head} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.ndim}-D tensor instead")
    if ndim == 2 and attn_mask is not None and attn_mask.ndim == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return ndim == 3


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_heads: int, are_separate: bool) -> None:
    width = query.shape[2]
    if width != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {width}")
    if width % num_heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    if are_separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _checked_mask(mask: Tensor | None, size: tuple[int, int], count: int) -> Tensor | None:
    """The mask with a matrix for all, or for each head of each member of the batch."""
    if mask is None:
        return None
    wanted = size if mask.ndim == 2 else (count, *size)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {wanted}.")
    return mask.unsqueeze(0) if mask.ndim == 2 else mask
