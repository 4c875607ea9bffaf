"""Elements at places that a mask may say are none, and tensors joined chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from mindtorch._core import geometry
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.iterator import broadcast_shapes


def unsafe_masked_index(input: Tensor, mask: Tensor, indices: Sequence[Any], fill: Any) -> Tensor:
    """`fill` where the mask is not set: there, indices may be out of bounds."""
    _check_listed(indices)
    if not input.numel():
        shape = reduce(broadcast_shapes, [tuple(each.shape) for each in (mask, *indices)])
        return ops.full(shape, fill, dtype=input.dtype, device=input.device)
    return ops.index(input, _within(input, indices)).masked_fill(mask.logical_not(), fill)


def unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Sequence[Any], values: Tensor) -> Tensor:
    """Adds values where the mask is set."""
    _check_listed(indices)
    if not input.numel():
        return input.clone()
    return ops.index_put(input, _within(input, indices), values.masked_fill(mask.logical_not(), 0), True)


def _within(input: Tensor, indices: Sequence[Any]) -> list[Tensor]:
    return [index.clamp(-size, size - 1) for index, size in zip(indices, input.shape)]


def _check_listed(indices: Sequence[Any]) -> None:
    if any(index is None for index in indices):
        raise TypeError("expected Tensor as element 0 in argument 2, but got NoneType")


def chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Each tensor is cut into chunks along `dim`, the last ones filled up with zeros, and chunk i joined to chunk i."""
    wrapped = _check_chunks(tensors, dim, num_chunks)
    return ops.cat([_chunks(tensor, wrapped, num_chunks) for tensor in tensors], wrapped + 1)


def _chunks(tensor: Tensor, dim: int, count: int) -> Tensor:
    missing = -tensor.shape[dim] % count
    padded = ops.constant_pad_nd(tensor, [0, 0] * (tensor.ndim - dim - 1) + [0, missing]) if missing else tensor
    return padded.reshape((*tensor.shape[:dim], count, -1))


def _check_chunks(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> int:
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    first = tensors[0]
    for tensor in tensors:
        if not tensor.numel():
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if tensor.dtype is not first.dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
    wrapped = _common_dim(tensors, dim)
    if any(tensor.shape[:wrapped] != first.shape[:wrapped] for tensor in tensors):
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    return wrapped


def _common_dim(tensors: Sequence[Tensor], dim: int) -> int:
    """The dimension along which all are cut; only those with as many dimensions have a last one in common."""
    if dim >= 0:
        if any(dim >= tensor.ndim for tensor in tensors):
            raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
        return dim
    if any(tensor.ndim != tensors[0].ndim for tensor in tensors):
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    return geometry.wrap_dim(dim, tensors[0].ndim)
