"""embedding_bag: bags of embeddings, and what its calls leave out."""

from __future__ import annotations

from mindtorch._core.autograd_meta import takes_part
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.forward_ad import unpack_dual
from mindtorch.dispatch import ops


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return embedding_bag_padding_idx(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, None
    )


def embedding_bag_padding_idx(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    bag = ops._embedding_bag if _is_differentiated(weight, per_sample_weights) else ops._embedding_bag_forward_only
    padding_idx = _checked_padding(weight, padding_idx)
    return bag(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx
    )


def _is_differentiated(weight: Tensor, per_sample_weights: Tensor | None) -> bool:
    given = [weight] if per_sample_weights is None else [weight, per_sample_weights]
    return any(takes_part(each) or unpack_dual(each).tangent is not None for each in given)


def _checked_padding(weight: Tensor, padding_idx: int | None) -> int:
    """The number of a row, or -1."""
    if padding_idx is None:
        return -1
    rows = weight.size(0)
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got {padding_idx}"
        )
    return padding_idx % rows
