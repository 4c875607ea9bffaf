"""Tokens sorted by the experts that they go to, and back."""

from mindtorch._core.dtype import float32, int32, int64
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from torch_npu.composite.quantization import refuse_given, rounded_rows

_COUNTS_OF_TOKENS = ("cumsum", "count", "key and value")
_PLAIN, _ROUNDED = -1, 1  # of quant_mode


def npu_moe_token_permute(tokens, indices, num_out_tokens, padded_mode):
    """The tokens in the order of their experts, a copy for each; and where the copies of each token went."""
    _refuse_padding(padded_mode)
    copies = indices.shape[1] if indices.dim() == 2 else 1
    order = ops.argsort(indices.reshape(-1), stable=True)
    count = order.shape[0] if num_out_tokens is None else num_out_tokens
    kept = order[:count] if count > 0 else order[: order.shape[0] + count]
    source = ops.div(kept, copies, rounding_mode="floor")
    return ops.index_select(tokens, 0, source), ops.argsort(order, stable=True).to(int32)


def npu_moe_token_unpermute(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape):
    """Each token as the sum of its copies, by their probabilities; copies that were left out count as zeros."""
    _refuse_padding(padded_mode)
    copies = 1 if probs is None else probs.shape[1]
    places = sorted_indices.reshape(-1).to(int64)
    rows = permuted_tokens.shape[0]
    found = ops.index_select(permuted_tokens, 0, places.clamp(max=max(rows - 1, 0)))
    found = found.masked_fill((places >= rows)[:, None], 0)
    found = found.reshape(-1, copies, permuted_tokens.shape[-1])
    if probs is not None:
        found = found * probs[..., None]
    return found.sum(1).to(permuted_tokens.dtype)


def _refuse_padding(padded_mode):
    if padded_mode:
        raise NotImplementedError("padded_mode=True is not supported, as in torch_npu")


def npu_moe_init_routing_v2(
    x, expert_idx, scale, offset, active_num, expert_capacity, expert_num, drop_pad_mode, expert_tokens_num_type,
    expert_tokens_num_flag, quant_mode, active_expert_range, row_idx_type, x_dtype,
):  # fmt: skip
    """The tokens in the order of their experts, where each copy went or came from, how many tokens each expert has, and
    factors of the rows. Only experts of a range take part; the rows behind theirs are zeros."""
    op = "npu_moe_init_routing_v2"
    refuse_given(op, offset=offset, drop_pad_mode=drop_pad_mode, x_dtype=x_dtype)
    if quant_mode not in (_PLAIN, _ROUNDED) or not expert_tokens_num_flag:
        raise NotImplementedError(f"{op}: only quant_mode -1 and 1 with expert_tokens_num_flag=True are supported")
    start, end = active_expert_range or (0, expert_num)
    copies, experts = expert_idx.shape[1], expert_idx.reshape(-1).to(int64)
    inside = (experts >= start) & (experts < end)
    own = ops.where(inside, experts - start, end - start)  # all others come last
    order = ops.argsort(own, stable=True)
    kept = ops.index_select(inside, 0, order)
    source = ops.div(order, copies, rounding_mode="floor")
    rows = ops.index_select(x, 0, source)
    factors = ops.zeros(rows.shape[0], dtype=float32, device=x.device)
    if quant_mode == _ROUNDED:
        rows, factors = rounded_rows(_smoothed(rows.to(float32), scale, own, order))
    elif scale is not None:
        factors = ops.index_select(scale, 0, source)
    places = order if row_idx_type else ops.where(inside, ops.argsort(order, stable=True), -1)
    counts = _counts(own, start, end, expert_num, expert_tokens_num_type)
    rows, factors = rows.masked_fill(~kept[:, None], 0), factors.masked_fill(~kept, 0)
    return rows, places.to(int32), counts, factors


def _smoothed(rows: Tensor, scale: Tensor | None, own: Tensor, order: Tensor) -> Tensor:
    """Rows times the factors of their experts."""
    if scale is None:
        return rows
    experts = ops.index_select(own, 0, order).clamp(max=scale.shape[0] - 1)
    return rows * ops.index_select(scale.to(float32), 0, experts)


def _counts(own: Tensor, start: int, end: int, expert_num: int, kind: int) -> Tensor:
    """How many tokens the experts of the range have: each, those up to each, or pairs with the numbers of experts."""
    if kind not in range(len(_COUNTS_OF_TOKENS)):
        raise RuntimeError(
            f"expert_tokens_num_type must be 0, 1 or 2, for {', '.join(_COUNTS_OF_TOKENS)}, but got {kind}"
        )
    counts = ops.zeros(end - start + 1, dtype=int64, device=own.device)
    counts = counts.scatter_add(0, own, ops.ones_like(own))[:-1]
    if kind < 2:
        return counts if kind else counts.cumsum(0)
    order = ops.argsort((counts == 0).to(int32), stable=True)
    counts = ops.index_select(counts, 0, order)
    pairs = ops.stack([(order + start).masked_fill(counts == 0, 0), counts], 1)
    return ops.constant_pad_nd(pairs, (0, 0, 0, expert_num - pairs.shape[0]))
