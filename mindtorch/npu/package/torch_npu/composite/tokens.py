"""Tokens sorted by the experts that they go to, and back."""

from mindtorch.dispatch import ops
from mindtorch.dtype import int32, int64


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
