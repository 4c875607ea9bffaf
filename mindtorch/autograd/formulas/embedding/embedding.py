"""Formulas of embedding."""

from mindtorch.dispatch import ops


def embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse):
    """The gradient of the table; a sparse one has a row for every index, and repeats rows as the indices do."""
    if not sparse:
        return ops.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    rows, values = indices.reshape(-1), grad.reshape(-1, grad.shape[-1])
    if padding_idx != -1:
        kept = (rows != padding_idx).nonzero().squeeze(1)
        rows, values = rows.index_select(0, kept), values.index_select(0, kept)
    return ops._sparse_coo_tensor_unsafe(rows.unsqueeze(0), values, (num_weights, grad.shape[-1]))


def embedding_dense_double_backward(grad, indices, padding_idx):
    """Gradient of embedding's backward: look the gradients up, nothing for the padding index."""
    picked = grad.index_select(0, indices.reshape(-1)).reshape((*indices.shape, grad.shape[-1]))
    return picked.masked_fill((indices == padding_idx).unsqueeze(-1), 0) if padding_idx >= 0 else picked


def embedding_bag_backward(
    grad, indices, offsets, bags, sizes, found, num_weights, scale_grad_by_freq, mode, sparse, per_sample, padding_idx
):
    """The gradient of a table of which bags were made; a sparse one as `embedding_backward` makes it."""
    if not sparse:
        return ops._embedding_bag_backward(
            grad, indices, offsets, bags, sizes, found, num_weights, scale_grad_by_freq, mode, sparse, per_sample,
            padding_idx,
        )  # fmt: skip
    if not bags.numel():
        places = ops.arange(indices.shape[0], dtype=offsets.dtype, device=offsets.device)
        bags = ops.searchsorted(offsets, places, right=True) - 1
    values = grad.index_select(0, bags)
    if mode == 1:
        values = values / sizes.index_select(0, bags).unsqueeze(1)
    if per_sample is not None:
        values = values * per_sample.unsqueeze(1)
    return embedding_backward(values, indices, num_weights, padding_idx, scale_grad_by_freq, True)
