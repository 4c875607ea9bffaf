"""Kernels of scaled dot product attention: block by block, so that scores and weights stay in the cache."""

from collections.abc import Iterator
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np

from mindtorch._core.promotion import BOOL, FLOATING
from mindtorch._core.strided import empty_like
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import broadcast_to
from mindtorch.backends.cpu.common.checks import expect_dtypes, expect_sizes, not_implemented, scalar_name
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.common.reducing import as_computed, rounded
from mindtorch.iterator import broadcast_shapes
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray

_BLOCK = 1 << 16  # scores that are looked at together
_FEW = 1 << 12  # elements that are quickly looked at
_MODERATE = 80.0  # exp of it is far from the largest float32, and so is a sum of many


def flash_attention(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Array | None,
    scale: float | None,
) -> tuple[Array, Array]:
    """The result, in the layout of the queries, and for each query the logarithm of the sum of its weights."""
    _check(query, key, value, dropout_p, attn_mask)
    images, heads, places, _ = query.shape
    wide = [_repeat_heads(widen(each), heads) for each in (query, key, value)]
    result = empty_like(query, wide[0].dtype)
    sums = np.empty((images, places, heads), result.dtype).transpose(0, 2, 1)
    mask = _spread(attn_mask, wide[0], wide[1])
    scaled = wide[0] * kept_constant(_scale(query, scale), result.dtype)
    quiet(_attend, (scaled, *wide[1:]), mask, is_causal, (result, sums))
    return result if result.dtype is query.dtype else rounded((result,), query.dtype)[0], sums


def flash_attention_backward(
    grad_out: Array,
    query: Array,
    key: Array,
    value: Array,
    out: Array,
    logsumexp: Array,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Array | None,
    scale: float | None,
) -> tuple[Array, Array, Array]:
    """The gradients of the queries, keys and values; the weights are computed again."""
    _check_gradients(grad_out, query, key, value, out, logsumexp)
    given = [as_computed(each, query.dtype) for each in (grad_out, query, key, value, out)]
    grad, q, k, v, o = [_repeat_heads(each, query.shape[1]) for each in given]
    if logsumexp.dtype != q.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(q)} but found {scalar_name(logsumexp)}")
    factor = q.dtype.type(_scale(query, scale))
    mask = _spread(attn_mask, q, k)
    grads = [_by_place(each) for each in (q, k, v)]
    quiet(_go_back, (grad, q * factor, k, v, o, logsumexp), mask, is_causal, grads)
    grads[0] *= factor
    sums = [_sum_heads(each, like.shape[1]) for each, like in zip(grads, given[1:])]
    return rounded(sums, query.dtype)


def _scale(query: Array, scale: float | None) -> float:
    return 1 / sqrt(query.shape[3]) if scale is None else scale


def _repeat_heads(array: Array, heads: int) -> Array:
    """Grouped queries: each head of keys or values serves several neighbouring heads of queries."""
    own = array.shape[1]
    return array if own == heads else array.repeat(heads // own, 1)


def _sum_heads(array: Array, own: int) -> Array:
    images, heads, places, size = array.shape
    if own == heads:
        return array
    result = _by_place(array[:, :own])
    return np.add.reduce(array.reshape(images, own, heads // own, places, size), 2, out=result)


def _spread(mask: Array | None, q: Array, k: Array) -> Array | None:
    """A mask with a number for each score."""
    if mask is None:
        return None
    mask = mask if mask.dtype == BOOL else as_computed(mask, q.dtype)
    shape = (*q.shape[:3], k.shape[2])
    broadcast_shapes(shape, mask.shape)  # torch's error for one that does not fit
    return broadcast_to(mask, shape)


def _by_place(like: Array) -> Array:
    """Zeros, the heads of a place side by side in memory as torch has them."""
    images, heads, places, size = like.shape
    return np.zeros((images, places, heads, size), like.dtype).transpose(0, 2, 1, 3)


def _check(query: Array, key: Array, value: Array, dropout_p: float, mask: Array | None) -> None:
    if query.dtype not in FLOATING:
        raise _refusal(f"Expected data type in FP32, FP64, BF16, FP16, but got {scalar_name(query)} instead.")
    if not query.ndim == key.ndim == value.ndim == 4:
        raise _refusal("Accept only 4 dims inputs shape of {B, H, T, K}")
    if dropout_p != 0:
        raise _refusal("Currently do not support dropout > 0")
    if not query.shape[3] == key.shape[3] == value.shape[3]:
        raise _refusal("Q/K/V should have the same head size")
    _check_batches("scaled_dot_product_attention_flash_attention", query, key, value)
    if mask is not None and mask.ndim not in (2, 4):
        raise _refusal("Attention mask dim in {2, 4}")
    for other in (key, value):
        if other.dtype != query.dtype:
            raise RuntimeError(f"expected scalar type {scalar_name(query)} but found {scalar_name(other)}")


def _check_gradients(grad: Array, query: Array, key: Array, value: Array, out: Array, logsumexp: Array) -> None:
    name = "scaled_dot_product_attention_flash_attention_backward"
    if any(each.ndim != 4 or each.shape[3] != query.shape[-1] for each in (query, key, value)):
        raise RuntimeError(f"{name}: Q/K/V should have the same head size")
    _check_batches(name, query, key, value)
    for what, each, sizes in (("grad_out", grad, query.shape), ("out", out, query.shape)):
        expect_sizes(each, sizes, what)
    expect_sizes(logsumexp, query.shape[:3], "logsumexp")
    if query.dtype not in FLOATING:
        raise not_implemented("flash_attention_backward", query)
    expect_dtypes(query, grad, key, value, out)


def _check_batches(name: str, query: Array, key: Array, value: Array) -> None:
    """torch reads what lies behind keys and values of fewer batches or heads."""
    if key.shape[0] != query.shape[0] or value.shape[:3] != key.shape[:3] or query.shape[1] % key.shape[1]:
        raise RuntimeError(f"{name}: Q/K/V should have the same batches, and K/V as many heads and places")


def _refusal(text: str) -> RuntimeError:
    return RuntimeError(f"scaled_dot_product_attention_flash_attention: {text}")


# -------------------- blocks --------------------


def _blocks(images: int, heads: int, rows: int, columns: int) -> Iterator[tuple[slice, slice, slice]]:
    """Images, heads and queries whose scores fit into the cache together."""
    if images * heads * rows * columns <= _BLOCK:
        yield slice(images), slice(heads), slice(0, rows)
        return
    heads_at_once = max(_BLOCK // (rows * columns), 1)
    rows_at_once = rows if rows * columns <= _BLOCK else max(_BLOCK // columns, 16)
    for image in range(images):
        for head in range(0, heads, heads_at_once):
            for row in range(0, rows, rows_at_once):
                yield slice(image, image + 1), slice(head, head + heads_at_once), slice(
                    row, min(row + rows_at_once, rows)
                )


def _attend(operands: tuple[Array, ...], mask: Array | None, is_causal: bool, outputs: tuple[Array, Array]) -> None:
    q, k, v = operands
    result, sums = outputs
    needs_shift = not _are_moderate(q, k, mask)
    for image, head, row in _blocks(*q.shape[:3], k.shape[2]):
        seen = slice(min(row.stop, k.shape[2]) if is_causal else None)
        weights = _scores(q[image, head, row], k[image, head, seen], mask, is_causal, (image, head, row))
        shift = _shift(weights) if needs_shift else 0.0
        np.exp(weights, out=weights)
        total = np.matmul(weights, _ones(weights.shape[-1], weights.dtype))
        if mask is not None:
            total[total == 0] = 1  # a query without a key gets zeros
        np.divide(np.matmul(weights, v[image, head, seen]), total[..., None], out=result[image, head, row])
        np.add(np.log(total), shift, out=sums[image, head, row])


def _go_back(operands: tuple[Array, ...], mask: Array | None, is_causal: bool, grads: list[Array]) -> None:
    grad, q, k, v, result, sums = operands
    q_grad, k_grad, v_grad = grads
    shares = np.vecdot(grad, result) if grad.size <= _FEW else np.einsum("bhld,bhld->bhl", grad, result)
    for image, head, row in _blocks(*q.shape[:3], k.shape[2]):
        seen = slice(min(row.stop, k.shape[2]) if is_causal else None)
        own, block = (image, head, row), (image, head, seen)
        weights = _scores(q[own], k[block], mask, is_causal, own)
        weights -= sums[own][..., None]
        np.exp(weights, out=weights)
        v_grad[block] += np.matmul(weights.swapaxes(2, 3), grad[own])
        slopes = np.matmul(grad[own], v[block].swapaxes(2, 3))
        slopes -= shares[own][..., None]
        slopes *= weights
        q_grad[own] = np.matmul(slopes, k[block])
        k_grad[block] += np.matmul(slopes.swapaxes(2, 3), q[own])


# -------------------- scores --------------------


def _scores(q: Array, k: Array, mask: Array | None, is_causal: bool, place: tuple[slice, slice, slice]) -> Array:
    """What the weights are the exponentials of, minus infinity where a key is not to be seen."""
    scores = np.matmul(q, k.swapaxes(2, 3))
    if is_causal:
        scores += _not_yet(place[2].start, *scores.shape[2:], scores.dtype)
    elif mask is not None and mask.dtype == BOOL:
        np.copyto(scores, -np.inf, where=~mask[place])
    elif mask is not None:
        scores += mask[place]
    return scores


def _are_moderate(q: Array, k: Array, mask: Array | None) -> bool:
    """Whether no score can be so large that its exponential overflows; a product is at most that of the lengths."""
    if mask is not None and mask.dtype != BOOL:
        return False
    if q.size + k.size <= _FEW:
        queries, keys = q.ravel(), k.ravel()
        if queries.dot(queries) * keys.dot(keys) < _MODERATE**2:
            return True  # together they are no longer than the longest may be
    longest = [np.einsum("bhld,bhld->bhl", each, each).max() for each in (q, k)]
    return bool(longest[0] * longest[1] < _MODERATE**2)  # NaN isn't either


def _shift(scores: Array) -> Array:
    """Take the largest score of each query from its scores."""
    largest = np.maximum.reduce(scores, -1, None, None, True)
    largest[largest == -np.inf] = 0
    scores -= largest
    return largest[..., 0]


@lru_cache(maxsize=32)
def _not_yet(first: int, rows: int, columns: int, dtype: Any) -> Array:
    """Minus infinity for the keys behind a query, the first of which is number `first`."""
    later = np.triu(np.ones((rows, columns), bool), first + 1)
    return np.where(later, -np.inf, 0).astype(dtype)


@lru_cache(maxsize=32)
def _ones(count: int, dtype: Any) -> Array:
    return np.ones(count, dtype)
