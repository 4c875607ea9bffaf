"""Formulas of attention as one op."""

import math

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import float32
from mindtorch.autograd.formulas.common import is_differentiated
from mindtorch.dispatch import ops


def attention_grads(grad, query, key, value, output, logsumexp, is_causal, attn_mask, scale):
    """Gradients of the queries, the keys and the values; step by step where they are to be differentiated again."""
    if not is_differentiated(grad, query, key, value):
        return ops._scaled_dot_product_flash_attention_for_cpu_backward(
            grad, query, key, value, output, logsumexp, 0.0, is_causal, attn_mask=attn_mask, scale=scale
        )
    heads, own_heads, dtype = query.shape[1], key.shape[1], query.dtype
    grad, query, key, value = [repeat_heads(_wide(each), heads) for each in (grad, query, key, value)]
    weights = _weights(attention_scores(query, key, is_causal, attn_mask, scale))
    slopes = _through_softmax(weights, grad @ value.transpose(-2, -1)) * scale_of(query, scale)
    key_grad, value_grad = slopes.transpose(-2, -1) @ query, weights.transpose(-2, -1) @ grad
    grads = (slopes @ key, _sum_heads(key_grad, own_heads), _sum_heads(value_grad, own_heads))
    return tuple(each.to(dtype) for each in grads)


def attention_jvp(query, query_t, key, key_t, value, value_t, is_causal, attn_mask, scale):
    """Tangent of the result."""
    dtype, heads = query.dtype, query.shape[1]
    given = [repeat_heads(_wide(each), heads) for each in (query, query_t, key, key_t, value, value_t)]
    query, query_t, key, key_t, value, value_t = given
    weights = _weights(attention_scores(query, key, is_causal, attn_mask, scale))
    slopes = (query_t @ key.transpose(-2, -1) + query @ key_t.transpose(-2, -1)) * scale_of(query, scale)
    return (_through_softmax(weights, slopes) @ value + weights @ value_t).to(dtype)


def repeat_heads(tensor, heads):
    """Grouped queries: each head of keys or values serves several neighbouring heads of queries."""
    own = tensor.shape[-3]
    if own == heads:
        return tensor
    shape = (*tensor.shape[:-2], heads // own, *tensor.shape[-2:])
    return tensor.unsqueeze(-3).expand(shape).reshape((*tensor.shape[:-3], heads, *tensor.shape[-2:]))


def _sum_heads(tensor, own):
    """The sums over the heads of queries that a head of keys or values serves."""
    images, heads, places, size = tensor.shape
    return tensor if own == heads else tensor.reshape((images, own, heads // own, places, size)).sum(2)


def _wide(tensor):
    return tensor.to(float32) if tensor.element_size() == 2 else tensor


def _weights(scores):
    """The softmax of the scores, zeros for a query without a key."""
    blocked = (scores == -math.inf).all(-1, keepdim=True)
    return scores.softmax(-1).masked_fill(blocked, 0)


def _through_softmax(weights, changes):
    """How changes of the scores change their softmax; and gradients of the softmax, the scores'."""
    return weights * (changes - (weights * changes).sum(-1, True))


def attention_scores(query, key, is_causal, mask, scale):
    """What the weights are the softmax of."""
    scores = (query * scale_of(query, scale)) @ key.transpose(-2, -1)
    if is_causal:
        return scores.masked_fill(later_keys(scores), -math.inf)
    if mask is None:
        return scores
    return scores.masked_fill(~mask, -math.inf) if mask.dtype is boolean else scores + mask.to(scores.dtype)


def scale_of(query, scale):
    """The factor of the scores; of vectors without numbers there are none that it could matter for."""
    if scale is not None:
        return scale
    return 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else math.inf


def later_keys(scores):
    """Where a key comes after the query."""
    return ops.ones(scores.shape[-2:], dtype=boolean, device=scores.device).triu(1)
