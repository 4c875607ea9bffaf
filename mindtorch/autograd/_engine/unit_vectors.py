"""The unit vectors of all elements of some tensors: what Jacobians are made from."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from mindtorch._core.tensor import Tensor


def unit_vectors(tensors: Sequence[Any], chunk_size: int | None = None) -> Iterator[list[Tensor]]:
    """The unit vectors, so many at a time (all, if None): for each tensor, its parts of them, stacked."""
    counts = [tensor.numel() for tensor in tensors]
    total = sum(counts)
    size = total if chunk_size is None else min(chunk_size, total)
    for start in range(0, total, size) if total else (0,):
        yield [
            _part(tensor, min(size, total - start), start - before)
            for tensor, before in zip(tensors, accumulate(counts, initial=0))
        ]


def _part(tensor: Any, rows: int, offset: int) -> Tensor:
    """The part of one tensor: ones where the row is the element, counted from `offset`."""
    block = tensor.new_zeros(rows, tensor.numel())
    block.diagonal(offset).fill_(1)
    return block.view(rows, *tensor.shape)
