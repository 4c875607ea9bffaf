"""What transformers use: rotary embeddings, attention, products by groups, tokens sorted by expert."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.activation import softmax
from tests.npu_simulator.evaluate.contract import (
    BFLOAT16,
    INT32,
    Evaluator,
    broadcast,
    expect,
    refuse,
    require,
    same_dtype,
    store,
    wide,
)

EVALUATORS: dict[str, Evaluator] = {}

# -------------------- rotary embeddings --------------------


def _rotated(x: np.ndarray, mode: int) -> np.ndarray:
    # "mode: 0 half, cat(-x2, x1); 1 interleave, stack(-x[1::2], x[0::2])"
    require(mode in (0, 1), f"mode {mode}")
    if mode == 0:
        first, second = np.split(x, 2, -1)
        return np.concatenate([-second, first], -1)
    return np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


def _rotate(x: Any, cos: Any, sin: Any, mode: int, out: Any) -> None:
    dtype = same_dtype(x, cos, sin)
    require(x.ndim == 4 and x.shape[-1] % 2 == 0, f"x of {x.shape}")
    require(broadcast(x.shape, cos.shape, sin.shape) == x.shape, f"cos {cos.shape} and sin {sin.shape} for {x.shape}")
    values = wide(x)
    store(out, values * wide(cos) + _rotated(values, mode) * wide(sin), dtype=dtype)


def _summed_to(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return values.sum(tuple(d for d, n in enumerate(shape) if n == 1 and values.shape[d] != 1), keepdims=True)


def _rotate_grad(dy: Any, cos: Any, sin: Any, x: Any, mode: int, dx: Any, dcos: Any, dsin: Any) -> None:
    # "xOptional null: dcosOut and dsinOut are not computed"
    g, c, s = wide(dy), np.broadcast_to(wide(cos), dy.shape), np.broadcast_to(wide(sin), dy.shape)
    store(dx, g * c - _rotated(g * s, mode), dtype=dy.dtype)
    if x is not None:
        store(dcos, _summed_to(g * wide(x), cos.shape), dtype=cos.dtype)
        store(dsin, _summed_to(g * _rotated(wide(x), mode), sin.shape), dtype=sin.dtype)


EVALUATORS |= {"aclnnRotaryPositionEmbedding": _rotate, "aclnnRotaryPositionEmbeddingGrad": _rotate_grad}

# -------------------- attention --------------------


def _heads(x: np.ndarray, layout: str, heads: int) -> np.ndarray:
    """As (B, N, S, D)."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(0, 2, 1, 3)
    if layout == "BSH":
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
    require(layout == "SBH", f"inputLayout {layout!r}")
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2, 0, 3)


def _back(x: np.ndarray, layout: str) -> np.ndarray:
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(0, 2, 1, 3)
    order = (0, 2, 1, 3) if layout == "BSH" else (2, 0, 1, 3)
    turned = x.transpose(order)
    return turned.reshape(*turned.shape[:2], -1)


def _masked(shape: tuple[int, ...], mask: Any, sparse: int, before: int, after: int) -> np.ndarray:
    """Which pairs take no part. sparseMode 0: the mask (1 is left out) and a band, neither without a mask; 1: the mask;
    2: all after the diagonal from the upper left; 3: from the lower right; of both, "please set the atten_mask_shape to
    [2048,2048]", the upper triangle of which stands for that of the scores."""
    rows, columns = np.arange(shape[-2])[:, None], np.arange(shape[-1])
    require(sparse in (0, 1, 2, 3), f"sparseMode {sparse}")
    require(sparse == 0 or mask is not None, f"sparseMode {sparse} without a mask")
    require(sparse < 2 or mask.shape[-2:] == (2048, 2048), "the mask of this sparseMode is [2048, 2048]")
    if sparse == 2:
        return np.broadcast_to(columns > rows, shape)
    if sparse == 3:
        return np.broadcast_to(columns > rows + shape[-1] - shape[-2], shape)
    if mask is None:
        return np.zeros(shape, bool)
    found = np.broadcast_to(mask != 0, shape)
    return found | (columns < rows - before) | (columns > rows + after) if sparse == 0 else found


class Attention:
    """The parts of Dropout(Softmax(Mask(scale (Q K + pse)))) V. Heads of keys may be fewer: each is for several."""

    def __init__(
        self, query: Any, key: Any, value: Any, pse: Any, drop: Any, mask: Any, scale: float, keep: float, before: int,
        after: int, heads: int, layout: str, sparse: int,
    ) -> None:  # fmt: skip
        if query is None or key is None or value is None:
            refuse("a tensor is null", 161001)
        self.dtype = same_dtype(query, key, value)
        self.layout, self.scale = layout, scale
        self.q = _heads(wide(query), layout, heads)
        require(self.q.shape[1] == heads, f"{heads} heads, and {self.q.shape[1]} in the query")
        size = self.q.shape[-1]
        self.own_heads = key.shape[-1] // size if layout in ("BSH", "SBH") else key.shape[layout.index("N")]
        require(heads % self.own_heads == 0, f"{heads} heads for {self.own_heads} of the keys")
        self.k, self.v = (self._spread(wide(each)) for each in (key, value))
        scores = self.q @ self.k.swapaxes(-1, -2)
        scores = scale * (scores if pse is None else scores + wide(pse))
        self.scores = np.where(_masked(scores.shape, mask, sparse, before, after), -np.inf, scores)
        self.max = self.scores.max(-1, keepdims=True)
        self.max = np.where(np.isfinite(self.max), self.max, 0)
        self.sum = np.exp(self.scores - self.max).sum(-1, keepdims=True)
        self.p = np.exp(self.scores - self.max) / np.where(self.sum, self.sum, 1)
        self.kept = self._dropped(drop, keep)

    def _spread(self, x: np.ndarray) -> np.ndarray:
        return np.repeat(_heads(x, self.layout, self.own_heads), self.q.shape[1] // self.own_heads, 1)

    def _gathered(self, x: np.ndarray) -> np.ndarray:
        b, n, s, d = x.shape
        return _back(x.reshape(b, self.own_heads, n // self.own_heads, s, d).sum(2), self.layout)

    def _dropped(self, drop: Any, keep: float) -> Any:
        # "keepProb: the share of 1 in dropMask", of which each bit is an element
        if drop is None:
            return 1.0
        bits = np.unpackbits(drop.reshape(-1), bitorder="little")[: self.p.size]
        return bits.reshape(self.p.shape) / keep

    def output(self) -> np.ndarray:
        """In the layout of the query."""
        return _back((self.p * self.kept) @ self.v, self.layout)

    def gradients(self, dy: np.ndarray, heads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of query, key and value."""
        g = _heads(dy, self.layout, heads)
        dv = (self.p * self.kept).swapaxes(-1, -2) @ g
        dp = (g @ self.v.swapaxes(-1, -2)) * self.kept
        ds = self.p * (dp - (dp * self.p).sum(-1, keepdims=True)) * self.scale
        return _back(ds @ self.k, self.layout), self._gathered(ds.swapaxes(-1, -2) @ self.q), self._gathered(dv)


def _flash(
    query: Any, key: Any, value: Any, pse: Any, drop: Any, padding: Any, mask: Any, prefix: Any, scale: float,
    keep: float, before: int, after: int, heads: int, layout: Any, inner: int, sparse: int, maximum: Any, total: Any,
    softmax_out: Any, out: Any,
) -> None:  # fmt: skip
    # softmaxMaxOut and softmaxSumOut: float32 (B, N, Sq, 8), each value eight times
    it = Attention(query, key, value, pse, drop, mask, scale, keep, before, after, heads, layout, sparse)
    store(out, it.output(), dtype=it.dtype)
    store(maximum, np.repeat(it.max, 8, -1), dtype=np.dtype("float32"))
    store(total, np.repeat(it.sum, 8, -1), dtype=np.dtype("float32"))


def _flash_grad(
    query: Any, key: Any, value: Any, dy: Any, pse: Any, drop: Any, padding: Any, mask: Any, maximum: Any, total: Any,
    softmax_in: Any, attention: Any, prefix: Any, scale: float, keep: float, before: int, after: int, heads: int,
    layout: Any, inner: int, sparse: int, dq: Any, dk: Any, dv: Any, dpse: Any,
) -> None:  # fmt: skip
    it = Attention(query, key, value, pse, drop, mask, scale, keep, before, after, heads, layout, sparse)
    for kept in (maximum, total):
        expect(kept, (*it.max.shape[:-1], 8), dtype=np.dtype("float32"))
    expect(attention, query.shape, dtype=it.dtype)
    for own, found in zip((dq, dk, dv), it.gradients(wide(dy), heads)):
        store(own, found, dtype=it.dtype)


def _masked_softmax(x: Any, mask: Any, scale: float, triangle: bool, y: Any) -> None:
    # fixedTriuMask: everything after the diagonal instead of the mask
    rows, columns = np.arange(x.shape[-2])[:, None], np.arange(x.shape[-1])
    hidden = columns > rows if triangle else np.broadcast_to(mask != 0, x.shape)
    store(y, softmax(np.where(hidden, -10000.0, wide(x) * scale), -1), dtype=x.dtype)


EVALUATORS |= {
    "aclnnFlashAttentionScore": _flash,
    "aclnnFlashAttentionScoreGrad": _flash_grad,
    "aclnnScaledMaskedSoftmax": _masked_softmax,
}

# -------------------- products by groups, tokens by expert --------------------


def _grouped(x: Any, weight: Any, bias: Any, bounds: np.ndarray, out: Any) -> None:
    """Rows of one tensor times the weight of their group."""
    require(len(x) == 1 and len(out) == 1, "one tensor of rows is needed")
    stack = [wide(each) for each in weight] if len(weight) > 1 else list(wide(weight[0]))
    require(len(bounds) == len(stack), f"{len(bounds)} groups for {len(stack)} weights")
    rows, result = wide(x[0]), np.zeros((x[0].shape[0], stack[0].shape[-1]))
    for number, (begin, end) in enumerate(zip([0, *bounds[:-1]], bounds)):
        result[begin:end] = rows[begin:end] @ stack[number]
        if bias:
            own = wide(bias[number]) if len(bias) > 1 else wide(bias[0])[number]
            result[begin:end] += own
    store(out[0], result, dtype=same_dtype(x[0], weight[0]))


def _none(*lists: Any) -> None:
    require(not any(lists), "quantized products are not simulated")


def _grouped_matmul_v4(
    x: Any, weight: Any, bias: Any, scale: Any, offset: Any, anti_scale: Any, anti_offset: Any, per_token: Any,
    groups: Any, active: Any, active_scale: Any, active_offset: Any, split: int, group_type: int, list_type: int,
    act_type: int, out: Any, act_out: Any, dynamic_scale: Any,
) -> None:  # fmt: skip
    # groupListType: 0 sums up to each group, 1 the size of each; groupType: -1 none, 0 rows; splitItem 2, 3: one output
    _none(scale, offset, anti_scale, anti_offset, per_token, active, active_scale, active_offset)
    if group_type == -1:
        require(len(x) == len(weight) == len(out), "lists differ in length")
        for number, (a, b) in enumerate(zip(x, weight)):
            addend = wide(bias[number]) if bias else 0
            store(out[number], wide(a) @ wide(b) + addend, dtype=same_dtype(a, b))
        return
    require(group_type == 0 and split in (2, 3) and act_type == 0, "only groups of rows are simulated")
    require(groups is not None and groups.dtype == np.int64, "groupList is int64")
    _grouped(x, weight, bias, wide(groups) if list_type == 0 else np.cumsum(wide(groups)), out)


def _grouped_matmul_v5(*arguments: Any) -> None:
    *before, tuning, out, act_out, dynamic_scale = arguments
    _grouped_matmul_v4(*before, out, act_out, dynamic_scale)


def _permute_tokens(tokens: Any, indices: Any, count: int, padded: bool, out: Any, places: Any) -> None:
    # Sorted by expert, stably; sortedIndices[i * topk + j]: where the token's copy went. numOutTokens 0: all.
    require(not padded, "paddedMode is not simulated")
    topk = indices.shape[1] if indices.ndim == 2 else 1
    order = np.argsort(wide(indices).reshape(-1), kind="stable")
    count = count if count > 0 else len(order) + count
    require(out.shape[0] == count, f"{out.shape[0]} rows for {count}")
    store(out, tokens[order[:count] // topk], dtype=tokens.dtype)
    store(places, np.argsort(order, kind="stable"), dtype=INT32)


def _unpermute_tokens(permuted: Any, places: Any, weights: Any, padded: bool, shape: Any, out: Any) -> None:
    # Each token is the sum of its copies, by their probabilities.
    require(not padded, "paddedMode is not simulated")
    topk = weights.shape[1] if weights is not None else 1
    where = wide(places).reshape(-1, topk)
    rows = np.concatenate([wide(permuted), np.zeros((1, permuted.shape[1]))])
    found = rows[np.minimum(where, len(permuted))]
    store(out, (found * (wide(weights)[..., None] if weights is not None else 1)).sum(1), dtype=permuted.dtype)


def _permute_grad(grad: Any, places: Any, topk: int, padded: bool, out: Any) -> None:
    _unpermute_tokens(grad, places.reshape(-1, topk), np.ones((places.size // topk, topk)), padded, None, out)


def _unpermute_grad(
    permuted: Any, grad: Any, places: Any, weights: Any, padded: bool, shape: Any, out: Any, weights_out: Any
) -> None:
    # Of the copies: the gradient of their token by the probability; of a probability: its copy times that gradient.
    require(not padded, "paddedMode is not simulated")
    topk = weights.shape[1] if weights is not None else 1
    where, g = wide(places).reshape(-1, topk), wide(grad)
    factors = wide(weights) if weights is not None else np.ones(where.shape)
    result = np.zeros(permuted.shape)
    kept = where < len(permuted)
    result[where[kept]] = (g[:, None] * factors[..., None])[kept]
    store(out, result, dtype=permuted.dtype)
    if weights is not None:
        rows = np.concatenate([wide(permuted), np.zeros((1, permuted.shape[1]))])
        own = (rows[np.minimum(where, len(permuted))] * g[:, None]).sum(-1)
        store(weights_out, own, dtype=weights.dtype)


def _dynamic_quant(x: Any, smooth: Any, y: Any, scale: Any) -> None:
    # scaleOut = row_max(abs(x smooth)) / 127, yOut = round(x smooth / scaleOut)
    require(x.dtype in (np.float16, BFLOAT16), f"x of {x.dtype}")
    values = wide(x) if smooth is None else wide(x) * wide(smooth)
    found = (np.abs(values).max(-1, keepdims=True) / 127).astype(np.float32)
    store(scale, found[..., 0], dtype=np.dtype("float32"))
    store(y, np.rint(values / np.where(found, found, 1)), dtype=np.dtype("int8"))


EVALUATORS |= {
    "aclnnMoeTokenUnpermuteGrad": _unpermute_grad,
    "aclnnDynamicQuant": _dynamic_quant,
    "aclnnGroupedMatmulV4": _grouped_matmul_v4,
    "aclnnGroupedMatmulV5": _grouped_matmul_v5,
    "aclnnMoeTokenPermute": _permute_tokens,
    "aclnnMoeTokenUnpermute": _unpermute_tokens,
    "aclnnMoeTokenPermuteGrad": _permute_grad,
}
