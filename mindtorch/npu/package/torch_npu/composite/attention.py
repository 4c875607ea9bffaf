"""Rotary embeddings, and attention in one op."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mindtorch._core.dtype import bool as bool_dtype
from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from torch_npu.composite.quantization import refuse_given

_TRIANGLE = (2048, 2048)  # the shape of the mask that stands for a triangle
_COPIES = 8  # how often each maximum and sum is in the results


def npu_rotary_mul(input, r1, r2, rotary_mode):
    """`x * r1 + rotated * r2`, where halves, or neighbours, of the last dimension have changed places."""
    if rotary_mode == "half":
        first, second = ops.chunk(input, 2, -1)
        rotated = ops.cat((-second, first), -1)
    elif rotary_mode == "interleave":
        rotated = ops.stack((-input[..., 1::2], input[..., ::2]), -1).reshape(input.shape)
    else:
        raise ValueError(f"rotary_mode must be 'half' or 'interleave', but got {rotary_mode!r}")
    return input * r1 + rotated * r2


def npu_fusion_attention(
    query, key, value, head_num, input_layout, pse, padding_mask, atten_mask, scale, keep_prob, pre_tockens,
    next_tockens, inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen, sparse_mode, gen_mask_parallel, sync,
    softmax_layout, sink,
):  # fmt: skip
    """`dropout(softmax(mask(scale * (q @ k.T + pse)))) @ v`, the maxima and sums of the softmax, an empty tensor, and
    three numbers that only torch_npu's own backward op needs, which are 0 here."""
    refused = {"padding_mask": padding_mask, "prefix": prefix, "sink": sink, "softmax_layout": softmax_layout or None}
    for name, given in refused.items():
        if given is not None:
            raise NotImplementedError(f"npu_fusion_attention: {name} is not supported")
    mask = Mask(atten_mask, sparse_mode, pre_tockens, next_tockens)
    if input_layout == "TND":
        found = _by_sequences(query, key, value, pse, mask, scale, keep_prob, actual_seq_qlen, actual_seq_kvlen)
    else:
        heads = [_heads(each, input_layout, head_num, query) for each in (query, key, value)]
        result, maxima, sums = attend(*heads, pse, mask, scale, keep_prob)
        found = _back(result, input_layout), _repeated(maxima), _repeated(sums)
    return (*found, ops.empty((0,), dtype=query.dtype, device=query.device), 0, 0, 0)


def npu_fusion_attention_grad(
    query, key, value, dy, head_num, input_layout, pse, padding_mask, atten_mask, softmax_max, softmax_sum, softmax_in,
    attention_in, scale_value, keep_prob, pre_tockens, next_tockens, inner_precise, seed, offset, numels, prefix,
    actual_seq_qlen, actual_seq_kvlen, sparse_mode, gen_mask_parallel, sync, softmax_layout, sink,
):  # fmt: skip
    """The gradients of the query, the key, the value and `pse`, from what the forward pass has returned."""
    op = "npu_fusion_attention_grad"
    refuse_given(op, padding_mask=padding_mask, softmax_in=softmax_in, prefix=prefix, sink=sink)
    refuse_given(op, softmax_layout=softmax_layout)
    if keep_prob < 1:
        raise NotImplementedError(
            f"{op}: keep_prob is not supported, for the forward pass keeps no mask of its dropout"
        )
    if softmax_max is None or softmax_sum is None or attention_in is None:
        raise RuntimeError(f"{op} needs softmax_max, softmax_sum and attention_in")
    mask = Mask(atten_mask, sparse_mode, pre_tockens, next_tockens, op)
    nothing = ops.empty((0,), dtype=query.dtype, device=query.device)
    if input_layout == "TND":
        if pse is not None or actual_seq_qlen is None or actual_seq_kvlen is None:
            raise NotImplementedError(f"{op}: input_layout TND needs the ends of all sequences, and takes no pse")
        given = (query, dy, attention_in, softmax_max, softmax_sum), (key, value), actual_seq_qlen, actual_seq_kvlen
        return (*_gradients_by_sequences(*given, mask, scale_value), nothing, nothing)
    heads = [_heads(each, input_layout, head_num, query) for each in (query, dy, attention_in, key, value)]
    q, d, out, k, v = heads
    *found, scores = _gradients(q, d, out, softmax_max, softmax_sum, k, v, pse, mask, scale_value)
    grads = [_back(each, input_layout) for each in found]
    return (*grads, nothing if pse is None else scores.sum_to_size(pse.shape).to(pse.dtype), nothing)


def _gradients(
    query: Tensor, grad: Tensor, out: Tensor, maxima: Tensor, sums: Tensor, key: Tensor, value: Tensor,
    pse: Tensor | None, mask: "Mask", scale: float,
) -> list[Tensor]:  # fmt: skip
    """For (B, N, S, D): the gradients of the query, key and value, and that of the scores."""
    groups, heads = query.shape[1] // key.shape[1], key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    dtype = query.dtype
    if query.element_size() < 4:
        query, grad, out, key, value = (each.to(float32) for each in (query, grad, out, key, value))
    products = query @ key.transpose(-1, -2)
    scores = scale * (products if pse is None else products + pse)
    weights = (scores - maxima[..., :1]).exp() / sums[..., :1].masked_fill(sums[..., :1] == 0, 1.0)
    hidden = mask.of(scores)
    weights = weights if hidden is None else weights.masked_fill(hidden, 0.0)
    of_scores = scale * weights * (grad @ value.transpose(-1, -2) - (grad * out).sum(-1, True))
    of_keys = [of_scores.transpose(-1, -2) @ query, weights.transpose(-1, -2) @ grad]
    of_keys = [each.unflatten(1, (heads, groups)).sum(2) for each in of_keys]
    return [*(each.to(dtype) for each in (of_scores @ key, *of_keys)), of_scores]


def _gradients_by_sequences(
    of_queries: Sequence[Tensor], of_keys: Sequence[Tensor], ends: Any, key_ends: Any, mask: "Mask", scale: float
) -> list[Tensor]:
    """The same for sequences one behind the other."""
    parts = []
    for (start, end), (key_start, key_end) in zip(pairwise((0, *ends)), pairwise((0, *key_ends)), strict=True):
        own = [*(each[start:end] for each in of_queries), *(each[key_start:key_end] for each in of_keys)]
        found = _gradients(*[each.transpose(0, 1)[None] for each in own], None, mask, scale)
        parts.append([each[0].transpose(0, 1) for each in found[:3]])
    return [ops.cat(each) for each in zip(*parts)]


def _heads(x: Tensor, layout: str, head_num: int, query: Tensor) -> Tensor:
    """As (B, N, S, D). Keys and values may have fewer heads than the query, of the same size."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout not in ("BSH", "SBH"):
        raise RuntimeError(f"The input_layout should be BSH/SBH/BNSD/BSND/TND(case-insensitive), but got {layout}.")
    split = x.reshape(*x.shape[:2], -1, query.shape[-1] // head_num)
    return split.transpose(1, 2) if layout == "BSH" else split.permute(1, 2, 0, 3)


def _back(x: Tensor, layout: str) -> Tensor:
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2).contiguous()
    return (x.transpose(1, 2) if layout == "BSH" else x.permute(2, 0, 1, 3)).flatten(2)


class Mask:
    """Which pairs of a query and a key take no part."""

    def __init__(
        self, given: Tensor | None, mode: int, before: int, after: int, op: str = "npu_fusion_attention"
    ) -> None:
        if mode not in (0, 1, 2, 3, 4):
            raise NotImplementedError(f"{op}: sparse_mode {mode} is not supported")
        if mode and given is None:
            raise RuntimeError(f"{op}: sparse_mode {mode} needs atten_mask")
        if mode > 1 and given is not None and tuple(given.shape[-2:]) != _TRIANGLE:
            raise RuntimeError(f"{op}: atten_mask of sparse_mode {mode} must be of shape [2048, 2048]")
        self.given, self.mode, self.before, self.after = given, mode, before, after

    def of(self, scores: Tensor) -> Tensor | None:
        """For scores of a shape: by the mask and a band, or by a diagonal from the upper left or the lower right."""
        if self.given is None:
            return None
        mode, last = self.mode, scores.shape[-1] - scores.shape[-2]
        if mode < 2:
            mask = self.given.to(bool_dtype)
            outside = self._outside(scores, self.before, self.after, 0) if mode == 0 else None
            return mask if outside is None else mask | outside
        if mode == 4:
            return self._outside(scores, self.before, self.after, last)
        return self._outside(scores, 2**31 - 1, 0, last if mode == 3 else 0)

    @staticmethod
    def _outside(scores: Tensor, before: int, after: int, shift: int) -> Tensor | None:
        """What is more than so many places before or after the diagonal; None if nothing is."""
        queries, keys = scores.shape[-2:]
        if before >= queries + abs(shift) and after >= keys + abs(shift):
            return None
        places = ops.arange(keys, device=scores.device) - ops.arange(queries, device=scores.device)[:, None] - shift
        return (places < -before) | (places > after)


def attend(
    query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, mask: Mask, scale: float, keep_prob: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The result for (B, N, S, D), and the maximum and the sum of each softmax, in float32."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query @ key.transpose(-1, -2)
    scores = scale * (scores if pse is None else scores + pse)
    scores = scores if scores.element_size() > 2 else scores.to(float32)
    hidden = mask.of(scores)
    if hidden is not None:
        scores = scores.masked_fill(hidden, float("-inf"))
    maxima = scores.amax(-1, True).detach()
    maxima = maxima.masked_fill(maxima == float("-inf"), 0.0)  # of a query without keys
    weights = (scores - maxima).exp()
    sums = weights.sum(-1, True)
    kept = (weights / sums.masked_fill(sums == 0, 1.0)).to(query.dtype)
    if keep_prob < 1:
        kept = ops.dropout(kept, 1 - keep_prob, True)
    return kept @ value, maxima, sums.detach()


def _repeated(values: Tensor) -> Tensor:
    return values.to(float32).expand(*values.shape[:-1], _COPIES).contiguous()


def _by_sequences(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    pse: Any,
    mask: Mask,
    scale: float,
    keep: float,
    ends: Any,
    key_ends: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same for sequences of several lengths, one behind the other, of which the ends are given."""
    if ends is None or key_ends is None:
        raise RuntimeError("npu_fusion_attention: input_layout TND needs actual_seq_qlen and actual_seq_kvlen")
    if pse is not None:
        raise NotImplementedError("npu_fusion_attention: pse is not supported with input_layout TND")
    parts = []
    for (start, end), (key_start, key_end) in zip(pairwise((0, *ends)), pairwise((0, *key_ends)), strict=True):
        own = [query[start:end], key[key_start:key_end], value[key_start:key_end]]
        result, maxima, sums = attend(*[each.transpose(0, 1)[None] for each in own], None, mask, scale, keep)
        parts.append([each[0].transpose(0, 1) for each in (result, _repeated(maxima), _repeated(sums))])
    result, maxima, sums = (ops.cat(each) for each in zip(*parts))
    return result, maxima, sums
