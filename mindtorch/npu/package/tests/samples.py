"""Test inputs: a function for every word of `samples:` in ops.yaml, and what the ops should give, by NumPy."""

import numpy as np
from scipy.special import erf, expit

from mindtorch.interop import from_numpy
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


REFERENCES = {
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
