"""`unsafe_split` and its like: parts of a tensor, in its memory, that autograd does not take for views.

So they may be written in place, each by itself, as the views of `split` may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch._core import geometry
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.autograd.function import Function


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    return _no_views(input.split(split_size, dim))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    return _no_views(input.split_with_sizes(split_sizes, dim))


class _NoViews(Function):
    """Tensors on the memory of the inputs that autograd takes for tensors of their own."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*views: Tensor) -> tuple[Tensor, ...]:
        return tuple([wrap(view._mt_array) for view in views])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        """There is nothing to keep."""

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        return grads

    jvp = backward


def _no_views(views: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return _NoViews.apply(*views) if views else ()


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
