"""Test inputs: a function for every word of `samples:` in ops.yaml, and what the ops should give, by NumPy."""

from functools import partial

import numpy as np
from scipy.special import erf, expit

from mindtorch._core.dtype import float16
from mindtorch._core.interop import from_numpy
from mindtorch.testing.ops import call


def integers(values):
    return from_numpy(np.asarray(values))


def shapes(make):
    for shape in ((), (5,), (2, 3)):
        yield call(make(*shape))


def rows_and_weights(make):
    yield call(make(4, 6), make(6))
    yield call(make(2, 3, 4), make(3, 4), 1e-3)


def two_rows_and_weights(make):
    yield call(make(4, 6), make(4, 6), make(6))
    yield call(make(2, 3), make(2, 3), make(3), 1e-3)


def even(make):
    yield call(make(3, 8))
    yield call(make(4, 3), 0)


def geglu(make):
    yield call(make(3, 8))
    yield call(make(4, 3), 0, 0)
    yield call(make(3, 4), activate_left=True)


def rotary(make):
    yield call(make(2, 3, 2, 4), make(1, 3, 1, 4), make(1, 3, 1, 4))
    yield call(make(2, 3, 2, 4), make(1, 3, 1, 4), make(1, 3, 1, 4), rotary_mode="interleave")


def attention(make):
    yield call(make(1, 2, 2, 2), make(1, 2, 3, 2), make(1, 2, 3, 2), 2, "BNSD", scale=0.5)
    yield call(make(1, 2, 4), make(1, 3, 2), make(1, 3, 2), 2, "BSH", scale=0.5)  # two heads for one of the keys
    yield call(make(2, 2, 2), make(3, 2, 2), make(3, 2, 2), 2, "SBH", pse=make(1, 2, 2, 3), scale=0.5)
    yield call(make(1, 2, 2, 2), make(1, 3, 2, 2), make(1, 3, 2, 2), 2, "BSND", atten_mask=_upper(2, 3))
    band = {"atten_mask": _upper(3, 3), "pre_tockens": 1, "next_tockens": 0}
    yield call(make(1, 1, 3, 1), make(1, 1, 3, 1), make(1, 1, 3, 1), 1, "BNSD", **band)
    triangle = _upper(1, 1).expand(2048, 2048)  # its shape alone counts
    for mode in (2, 3):
        given = {"atten_mask": triangle, "sparse_mode": mode}
        yield call(make(1, 1, 2, 1), make(1, 1, 3, 1), make(1, 1, 3, 1), 1, "BNSD", **given)
    ends = {"actual_seq_qlen": [1, 3], "actual_seq_kvlen": [2, 3]}
    yield call(make(3, 1, 2), make(3, 1, 2), make(3, 1, 2), 1, "TND", scale=0.5, **ends)


def groups(make):
    yield call([make(2, 3), make(4, 2)], [make(3, 5), make(2, 3)])
    yield call([make(2, 3)], [make(3, 5)], bias=[make(5)])
    rows = {"group_list": integers([2, 2, 5]), "group_type": 0, "split_item": 3}
    yield call([make(5, 3)], [make(3, 3, 4)], **rows)
    yield call([make(6, 3)], [make(3, 4), make(3, 4), make(3, 4)], bias=[make(4), make(4), make(4)], **rows)
    sizes = {"group_list": integers([2, 3]), "group_list_type": 1}
    yield call([make(5, 3)], [make(2, 3, 4)], group_type=0, split_item=0, **sizes)
    yield call([make(3, 5)], [make(5, 4)], group_type=2, split_item=3, **sizes)


def formats(make):
    yield call(make(2, 3), 29)


def tokens(make):
    yield call(make(4, 3), integers([2, 0, 1, 0]))
    yield call(make(3, 2), integers([[2, 0], [1, 0], [0, 1]]))
    yield call(make(3, 2), integers([[2, 0], [1, 0], [0, 1]]), num_out_tokens=4)


def sorted_tokens(make):
    yield call(make(4, 3), integers([3, 0, 2, 1]))
    yield call(make(6, 2), integers([5, 0, 3, 1, 2, 4]), make(3, 2))
    yield call(make(4, 2), integers([5, 0, 3, 1, 2, 4]), make(3, 2))


def attention_grads(make):
    def sample(queries, keys, **more):
        rows = queries[:3]
        sums = {"softmax_max": make(*rows, 8), "softmax_sum": make(*rows, 8, low=1.0, high=3.0)}
        given = {"attention_in": make(*queries), "scale_value": 0.5} | sums | more
        return call(make(*queries), make(*keys), make(*keys), make(*queries), queries[1], "BNSD", **given)

    yield sample((1, 2, 1, 1), (1, 2, 2, 1))
    yield sample((1, 1, 2, 1), (1, 1, 3, 1), pse=make(1, 1, 2, 3), atten_mask=_upper(2, 3))
    yield sample((1, 2, 1, 2), (1, 1, 2, 2))  # two heads for one of the keys


def inference(make):
    make = partial(make, differentiable=False)  # as on the device
    plain = {"num_heads": 2, "scale": 0.5, "softmax_lse_flag": True}
    yield call(make(2, 3, 4), make(2, 3, 4), make(2, 3, 4), **plain)
    few = {"num_key_value_heads": 1, "actual_seq_lengths": [2, 1], "actual_seq_lengths_kv": [3, 2]}
    yield call(make(2, 2, 4), make(2, 3, 2), make(2, 3, 2), **few, **plain)
    one = {"input_layout": "BNSD", "atten_mask": _upper(2, 3)}
    yield call(make(2, 2, 1, 2), make(2, 2, 3, 2), make(2, 2, 3, 2), **one, **plain)
    triangle = {"atten_mask": _upper(1, 1).expand(2048, 2048), "sparse_mode": 3, "input_layout": "BNSD_BSND"}
    longer = {"actual_seq_lengths_kv": [3, 2]}
    yield call(make(2, 2, 2, 1), make(2, 2, 3, 1), make(2, 2, 3, 1), **triangle, **longer, **plain)
    table = {"block_table": integers(np.array([[2, 0], [1, 3]], np.int32)), "block_size": 2}
    paged = {"actual_seq_lengths_kv": [3, 2], "input_layout": "BSND"} | table
    yield call(make(2, 1, 2, 2), make(4, 2, 4), make(4, 2, 4), **paged, **plain)
    yield call(make(2, 1, 2, 2), make(4, 2, 2, 2), make(4, 2, 2, 2), **(paged | {"input_layout": "BSND_NBSD"}), **plain)
    ends = {"actual_seq_lengths": [1, 3], "actual_seq_lengths_kv": [2, 3], "input_layout": "TND"}
    yield call(make(3, 2, 2), make(3, 2, 2), make(3, 2, 2), **ends, **plain)


# What the first version of the op calls the arguments of the second one.
_OLD_NAMES = {
    "num_query_heads": "num_heads",
    "softmax_scale": "scale",
    "return_softmax_lse": "softmax_lse_flag",
    "actual_seq_qlen": "actual_seq_lengths",
    "actual_seq_kvlen": "actual_seq_lengths_kv",
}


def inference_v2(make):
    names = {old: new for new, old in _OLD_NAMES.items()}
    for each in inference(make):
        yield call(*each.args, **{names.get(name, name): value for name, value in each.kwargs.items()})


def routed_tokens(make):
    experts = integers(np.array([[2, 0], [1, 3], [0, 2]], np.int32))
    plain = {"expert_num": 4, "expert_tokens_num_flag": True}
    for kind, rows in ((1, 0), (1, 1), (0, 0), (2, 0)):
        yield call(make(3, 2), experts, expert_tokens_num_type=kind, row_idx_type=rows, **plain)
        yield call(
            make(3, 2), experts, expert_tokens_num_type=kind, row_idx_type=rows, active_expert_range=[1, 3], **plain
        )
    scale = make(3, dtype="float32", differentiable=False)
    yield call(make(3, 2), experts, scale=scale, expert_tokens_num_type=1, **plain)
    rounded = {"quant_mode": 1, "active_expert_range": [0, 3], "expert_tokens_num_type": 1}
    yield call(make(3, 2, differentiable=False), experts, **rounded, **plain)
    scale = make(3, 2, dtype="float32", differentiable=False)
    yield call(make(3, 2, differentiable=False), experts, scale=scale, **rounded, **plain)


def rounded_rows(make):
    def given(*shape):  # what is rounded has no gradient
        return make(*shape, differentiable=False)

    yield call(given(3, 4))
    yield call(given(2, 3, 4), smooth_scales=given(4))
    yield call(given(3, 4) * integers(np.array([[0], [1], [2]])))
    groups = integers(np.array([1, 1, 4], np.int32))
    yield call(given(2, 2, 3), smooth_scales=given(3, 3), group_index=groups)


def quantized_products(make):
    def whole(*shape, size=128, dtype=np.int8):
        return integers(np.random.default_rng(len(shape)).integers(-size, size, shape).astype(dtype))

    def factors(*shape, low=0.001):
        return make(*shape, low=low, high=0.01, dtype="float32", differentiable=False)

    bias = whole(5, size=1000, dtype=np.int32)
    yield call(whole(3, 4), whole(4, 5), factors(5))
    yield call(whole(3, 4), whole(4, 5), factors(1), offset=factors(5, low=-9.0), bias=bias)
    half = {"output_dtype": float16}
    yield call(whole(2, 3, 4), whole(2, 4, 5), factors(5), pertoken_scale=factors(3), bias=bias, **half)
    yield call(whole(3, 4), whole(4, 5), factors(5), pertoken_scale=factors(3), bias=factors(5, low=-9.0), **half)
    yield call(whole(1, 2100, size=2) * 0 + 127, whole(2100, 2) * 0 + 127, factors(2))  # more than float32 holds


def _upper(rows, columns):
    return integers(np.triu(np.ones((rows, columns), bool), 1))


# -------------------- values --------------------


def _rms_norm(x, gamma, epsilon=1e-6):
    dims = tuple(range(-gamma.ndim, 0))
    rstd = 1 / np.sqrt((x * x).mean(dims, keepdims=True) + epsilon)
    return x * rstd * gamma, rstd


def _add_rms_norm(x1, x2, gamma, epsilon=1e-6):
    return (*_rms_norm(x1 + x2, gamma, epsilon), x1 + x2)


def _swiglu(x, dim=-1):
    first, second = np.split(x, 2, dim)
    return first * expit(first) * second


def _geglu(x, dim=-1, approximate=1, activate_left=False):
    first, second = np.split(x, 2, dim)
    if activate_left:
        first, second = second, first
    cubic = np.tanh(np.sqrt(2 / np.pi) * (second + 0.044715 * second**3))
    activated = second / 2 * (1 + (cubic if approximate else erf(second / np.sqrt(2))))
    return first * activated, activated


def _rotary(x, r1, r2, rotary_mode="half"):
    rotated = np.empty_like(x)
    if rotary_mode == "half":
        half = x.shape[-1] // 2
        rotated[..., :half], rotated[..., half:] = -x[..., half:], x[..., :half]
    else:
        rotated[..., ::2], rotated[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return x * r1 + rotated * r2


def _permuted(x, indices, num_out_tokens=None):
    copies = indices.shape[1] if indices.ndim == 2 else 1
    order = np.argsort(indices.reshape(-1), kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return x[order[:num_out_tokens] // copies], places.astype(np.int32)


def _unpermuted(x, places, probs=None):
    copies = 1 if probs is None else probs.shape[1]
    found = np.zeros((len(places) // copies, x.shape[1]), x.dtype)
    for copy, place in enumerate(places):
        if place < len(x):
            found[copy // copies] += x[place] * (1 if probs is None else probs.reshape(-1)[copy])
    return found


def _attention(
    query, key, value, head_num, input_layout, pse=0.0, atten_mask=None, scale=1.0, pre_tockens=2**31 - 1,
    next_tockens=2**31 - 1, sparse_mode=0, actual_seq_qlen=None, actual_seq_kvlen=None,
):  # fmt: skip
    """One pair of a query and its keys after the other."""
    size = query.shape[-1] // (head_num if input_layout in ("BSH", "SBH") else 1)
    inputs = [_by_head(each, input_layout, size) for each in (query, key, value)]
    if input_layout == "TND":
        ends = zip([0, *actual_seq_qlen], actual_seq_qlen, [0, *actual_seq_kvlen], actual_seq_kvlen)
        parts = [[each[:, :, one[a] : one[b]] for each, one, a, b in _cuts(inputs, cut)] for cut in ends]
    else:
        parts = [inputs]
    found = []
    for q, k, v in parts:
        shape = (*q.shape[:3], k.shape[2])
        extra = np.broadcast_to(np.asarray(pse, q.dtype), shape)
        out, top, total = np.zeros(q.shape, q.dtype), np.zeros((*shape[:3], 8), "f4"), np.zeros((*shape[:3], 8), "f4")
        for b, n, i in np.ndindex(shape[:3]):
            own = n * k.shape[1] // q.shape[1]
            scores = scale * (k[b, own] @ q[b, n, i] + extra[b, n, i])
            seen = [
                j
                for j in range(shape[3])
                if _takes_part(i, j, shape, atten_mask, sparse_mode, pre_tockens, next_tockens)
            ]
            weights = np.exp(scores[seen] - scores[seen].max())
            out[b, n, i] = weights @ v[b, own][seen] / weights.sum()
            top[b, n, i], total[b, n, i] = scores[seen].max(), weights.sum()
        found.append((out, top, total))
    joined = [np.concatenate(each, 2) for each in zip(*found)]
    out, top, total = joined
    if input_layout == "TND":
        return *(each[0].swapaxes(0, 1) for each in joined), np.empty(0, query.dtype)
    order = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (2, 0, 1, 3)}[input_layout]
    return out.transpose(order).reshape(query.shape), top, total, np.empty(0, query.dtype)


def _by_head(x, layout, size):
    if layout in ("BSH", "SBH"):
        x = x.reshape(*x.shape[:2], -1, size)
    if layout == "TND":
        return x.swapaxes(0, 1)[None]
    return x.transpose({"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (1, 2, 0, 3)}[layout])


def _cuts(inputs, cut):
    start, end, key_start, key_end = cut
    places = ((start, end), (key_start, key_end), (key_start, key_end))
    return [(each, place, 0, 1) for each, place in zip(inputs, places)]


def _takes_part(i, j, shape, mask, mode, before, after):
    if mask is None:
        return True
    if mode == 0:
        return not mask[i, j] and i - before <= j <= i + after
    return j <= i + (shape[3] - shape[2] if mode == 3 else 0)


def _grouped(x, weight, bias=None, group_list=None, group_type=-1, group_list_type=0, split_item=0):
    if group_type == -1:
        return [a @ b + (bias[n] if bias else 0) for n, (a, b) in enumerate(zip(x, weight))]
    ends = group_list if group_list_type == 0 else np.cumsum(group_list)
    stack = list(weight[0]) if len(weight) == 1 else weight
    if group_type == 2:
        return [np.stack([x[0][:, a:b] @ weight[0][a:b] for a, b in zip([0, *ends], ends)])]
    results = [x[0][a:b] @ stack[n] + (bias[n] if bias else 0) for n, (a, b) in enumerate(zip([0, *ends], ends))]
    rest = len(x[0]) - ends[-1]
    results += [np.zeros((rest, stack[0].shape[1]), x[0].dtype)] if rest else []
    return [np.concatenate(results)] if split_item in (2, 3) else results


def _attention_grads(
    query, key, value, grad, head_num, input_layout, softmax_max, softmax_sum, attention_in, scale_value, pse=None,
    atten_mask=None,
):  # fmt: skip
    """For each pair of a query and a key, what it adds to the gradients."""
    found = [np.zeros_like(each) for each in (query, key, value)]
    scores = np.zeros((*query.shape[:3], key.shape[2]), query.dtype)
    for b, n, i in np.ndindex(query.shape[:3]):
        own = n * key.shape[1] // query.shape[1]
        q, d, out = (each[b, n, i] for each in (query, grad, attention_in))
        for j in range(key.shape[2]):
            if atten_mask is not None and atten_mask[i, j]:
                continue
            score = scale_value * (q @ key[b, own, j] + (0 if pse is None else pse[b, n, i, j]))
            weight = np.exp(score - softmax_max[b, n, i, 0]) / softmax_sum[b, n, i, 0]
            scores[b, n, i, j] = of_score = scale_value * weight * (d @ value[b, own, j] - d @ out)
            found[0][b, n, i] += of_score * key[b, own, j]
            found[1][b, own, j] += of_score * q
            found[2][b, own, j] += weight * d
    nothing = np.empty(0, query.dtype)
    return *found, nothing if pse is None else scores, nothing


def _inferred(
    query, key, value, num_heads, scale, softmax_lse_flag, input_layout="BSH", num_key_value_heads=0,
    actual_seq_lengths=None, actual_seq_lengths_kv=None, atten_mask=None, sparse_mode=0, block_table=None, block_size=0,
):  # fmt: skip
    """One sequence after the other, as (N, S, D)."""
    layout, _, into = input_layout.partition("_")
    queries = _sequences(query, layout, num_heads, actual_seq_lengths)
    found = []
    for b, q in enumerate(queries):
        k, v = (
            (
                _sequences(each, layout, num_key_value_heads or num_heads, actual_seq_lengths_kv)[b]
                if block_table is None
                else _pages(each, block_table[b], num_heads)[:, : actual_seq_lengths_kv[b]]
            )
            for each in (key, value)
        )
        out, lse = np.zeros(q.shape, q.dtype), np.zeros((*q.shape[:2], 1), "f4")
        for n, i in np.ndindex(q.shape[:2]):
            own = n * len(k) // len(q)
            scores = scale * k[own] @ q[n, i]
            last = i + k.shape[1] - q.shape[1] if sparse_mode == 3 else k.shape[1]
            seen = [
                j
                for j in range(k.shape[1])
                if j <= last and (sparse_mode or atten_mask is None or not atten_mask[b, j])
            ]
            weights = np.exp(scores[seen])
            out[n, i], lse[n, i] = weights @ v[own][seen] / weights.sum(), np.log(weights.sum())
        found.append((out, lse))
    if layout == "TND":
        return tuple(np.concatenate([each[place].swapaxes(0, 1) for each in found]) for place in (0, 1))
    size = query.shape[2 if layout == "BNSD" else 1]
    whole = [
        np.stack([np.pad(each[n], ((0, 0), (0, size - each[n].shape[1]), (0, 0))) for each in found]) for n in (0, 1)
    ]
    order = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "NBSD": (1, 0, 2, 3)}[into or layout]
    out = whole[0].transpose(order)
    return out.reshape(query.shape) if (into or layout) == "BSH" else out, whole[1]


def _sequences(x, layout, heads, lengths):
    if layout == "TND":
        return [x[start:end].swapaxes(0, 1) for start, end in zip([0, *lengths], lengths)]
    x = _by_head(x, layout, x.shape[-1] // heads if layout == "BSH" else 0)
    return [each[:, :end] for each, end in zip(x, lengths or [x.shape[2]] * len(x))]


def _pages(x, row, heads):
    x = x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) if x.ndim == 3 else x
    return np.concatenate([x[page] for page in row], 1)


def _rounded(x, smooth_scales=None, group_index=None):
    rows = x.astype("f4").reshape(-1, x.shape[-1]).copy()
    for number, row in enumerate(rows):
        if group_index is not None:
            row *= smooth_scales.astype("f4")[next(n for n, end in enumerate(group_index) if number < end)]
        elif smooth_scales is not None:
            row *= smooth_scales.astype("f4")
    factors = np.abs(rows).max(1) / np.float32(127)
    whole = [np.rint(row / factor) if factor else row * 0 for row, factor in zip(rows, factors)]
    return np.array(whole).astype("i1").reshape(x.shape), factors.reshape(x.shape[:-1])


def _routed(
    x, expert_idx, scale=None, expert_num=0, expert_tokens_num_flag=True, quant_mode=-1, active_expert_range=None,
    expert_tokens_num_type=0, row_idx_type=0,
):  # fmt: skip
    start, end = active_expert_range or (0, expert_num)
    flat, copies = expert_idx.reshape(-1), expert_idx.shape[1]
    order = sorted(range(len(flat)), key=lambda n: (flat[n] if start <= flat[n] < end else expert_num, n))
    kept = [n for n in order if start <= flat[n] < end]
    rows, factors = np.zeros((len(flat), x.shape[1]), x.dtype), np.zeros(len(flat), "f4")
    places = np.array(order) if row_idx_type else np.full(len(flat), -1)
    for n, source in enumerate(kept):
        rows[n] = x[source // copies]
        if quant_mode == 1:
            smooth = 1 if scale is None else scale[flat[source] - start]
            (rows[n],), (factors[n],) = _rounded((rows[n].astype("f4") * smooth)[None])
        elif scale is not None:
            factors[n] = scale[source // copies]
        if not row_idx_type:
            places[source] = n
    counts = np.array([(flat == expert).sum() for expert in range(start, end)])
    if expert_tokens_num_type == 0:
        counts = np.cumsum(counts)
    elif expert_tokens_num_type == 2:
        pairs = [(start + n, count) for n, count in enumerate(counts) if count]
        counts = np.array(pairs + [(0, 0)] * (expert_num - len(pairs)))
    return rows, places, counts, factors


def _quantized(x1, x2, scale, offset=None, pertoken_scale=None, bias=None, output_dtype=None):
    whole = x1.astype(int) @ x2.astype(int)
    if bias is not None and bias.dtype == np.int32:
        whole = whole + bias
    found = whole.astype("f4") * scale
    if pertoken_scale is not None:
        found = found * pertoken_scale[:, None]
    found = found + (0 if offset is None else offset)
    found = found + (0 if bias is None or bias.dtype == np.int32 else bias)
    return found.astype("f2") if output_dtype else np.clip(np.rint(found), -128, 127).astype("i1")


REFERENCES = {
    "npu_fusion_attention_grad": _attention_grads,
    "npu_fused_infer_attention_score": _inferred,
    "npu_fused_infer_attention_score_v2": lambda *args, **kwargs: _inferred(
        *args, **{_OLD_NAMES.get(name, name): value for name, value in kwargs.items()}
    ),
    "npu_moe_init_routing_v2": _routed,
    "npu_dynamic_quant": _rounded,
    "npu_quant_matmul": _quantized,
    "npu_fusion_attention": _attention,
    "npu_grouped_matmul": _grouped,
    "npu_rms_norm": _rms_norm,
    "npu_add_rms_norm": _add_rms_norm,
    "npu_swiglu": _swiglu,
    "npu_geglu": _geglu,
    "npu_fast_gelu": lambda x: x / (1 + np.exp(-1.702 * np.abs(x))) * np.exp(0.851 * (x - np.abs(x))),
    "npu_rotary_mul": _rotary,
    "npu_format_cast": lambda x, acl_format: x,
    "npu_moe_token_permute": _permuted,
    "npu_moe_token_unpermute": _unpermuted,
}


# Arguments that no sample varies yet. Most of them belong to quantized and sparse forms of attention and products.
UNVARIED = {
    "npu_fusion_attention": "padding_mask keep_prob inner_precise prefix gen_mask_parallel sync softmax_layout sink",
    "npu_fusion_attention_grad": (
        "padding_mask softmax_in keep_prob pre_tockens next_tockens inner_precise seed offset numels prefix "
        "actual_seq_qlen actual_seq_kvlen sparse_mode gen_mask_parallel sync softmax_layout sink"
    ),
    "npu_fused_infer_attention_score": (
        "pse_shift dequant_scale1 quant_scale1 dequant_scale2 quant_scale2 quant_offset2 antiquant_scale "
        "antiquant_offset key_antiquant_scale key_antiquant_offset value_antiquant_scale "
        "value_antiquant_offset query_padding_size kv_padding_size key_shared_prefix value_shared_prefix "
        "actual_shared_prefix_len query_rope key_rope key_rope_antiquant_scale pre_tokens next_tokens "
        "inner_precise antiquant_mode key_antiquant_mode value_antiquant_mode"
    ),
    "npu_fused_infer_attention_score_v2": (
        "query_rope key_rope pse_shift dequant_scale_query dequant_scale_key dequant_offset_key "
        "dequant_scale_value dequant_offset_value dequant_scale_key_rope quant_scale_out quant_offset_out "
        "quant_scale_p learnable_sink pre_tokens next_tokens query_quant_mode key_quant_mode value_quant_mode "
        "inner_precise query_dtype key_dtype value_dtype query_rope_dtype key_rope_dtype "
        "key_shared_prefix_dtype value_shared_prefix_dtype dequant_scale_query_dtype dequant_scale_key_dtype "
        "dequant_scale_value_dtype dequant_scale_key_rope_dtype out_dtype"
    ),
    "npu_grouped_matmul": (
        "scale offset antiquant_scale antiquant_offset per_token_scale activation_input "
        "activation_quant_scale activation_quant_offset act_type tuning_config output_dtype"
    ),
    "npu_moe_token_permute": "padded_mode",
    "npu_moe_token_unpermute": "padded_mode restore_shape",
    "npu_moe_init_routing_v2": "offset active_num expert_capacity drop_pad_mode x_dtype",
    "npu_dynamic_quant": "dst_type quant_mode dst_type_max",
    "npu_quant_matmul": "x1_dtype x2_dtype pertoken_scale_dtype scale_dtype group_sizes y_scale",
}
