"""`unsafe_chunk`: parts of a tensor, in its memory, that autograd does not take for views.

So they may be written in place, each by itself, as the views of `chunk` may not.
"""

from __future__ import annotations

from mindtorch._core import geometry
from mindtorch._core.tensor import Tensor


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    size = chunk_size(input, chunks, dim)
    if not size:
        return input.unsafe_split_with_sizes((0,) * chunks, dim)
    return input.unsafe_split(size, dim)


def chunk_size(input: Tensor, chunks: int, dim: int) -> int:
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    extent = input._mt_array.shape[geometry.wrap_dim(dim, input.ndim)]
    return -(-extent // chunks)
