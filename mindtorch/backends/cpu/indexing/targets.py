"""The arrays that indexing kernels write to, and the check of the indices along one dimension."""

from functools import lru_cache
from math import prod

import numpy as np

from mindtorch import iterator
from mindtorch._core import aligned
from mindtorch._core.strided import empty_like
from mindtorch._support.numpy_functions import is_within
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.common.casting import check_same
from mindtorch.backends.cpu.common.checks import scalar_name

Array = np.ndarray

INDEX_DTYPES = (np.dtype(np.int64), np.dtype(np.int32))


def target_of(input: Array, out: Array | None) -> Array:
    """The array to change: `out` with the values of the input, or a copy of the input in its memory order."""
    if out is input:
        return out
    check_same(input, out)
    if out is None or iterator.needs_resize(out, input.shape):
        out = empty_like(input)
    np.copyto(out, input)
    return out


def contiguous_target(input: Array, out: Array | None, *read: Array) -> Array:
    """As `target_of`, for ops whose result is row-major and lies apart from the operands that they `read`."""
    if out is None:
        return input.copy()
    iterator.check_distinct(out)
    iterator.check_apart(out, read)
    return target_of(input, out)


def check_range(index: Array, dim: int, extent: int) -> None:
    """These ops take no negative indices."""
    aligned.check_walk(index)
    if not is_within(index, 0, extent):
        raise range_error(index, dim, extent)


def range_error(index: Array, dim: int, extent: int) -> RuntimeError:
    bad = index[(index < 0) | (index >= extent)].flat[0]
    return RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {extent}")


def flat_places(index: Array, dim: int, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Which elements of a row-major array of a shape an index for one of its dimensions means.

    `sizes`: how many elements of each dimension are meant, the first ones of those that have no index.
    """
    inside = prod(shape[dim + 1 :])
    others = (_few_starts if index.size <= _FEW else _starts)(sizes, dim, shape)
    places = index.reshape(1) if not index.ndim else index
    if inside != 1:
        places = np.multiply(places, inside, dtype=np.int64)
    return places if others is None else places + others


def _starts(sizes: tuple[int, ...], dim: int, shape: tuple[int, ...]) -> Array | None:
    """What the other dimensions add to the places."""
    starts, stride = None, 1
    for each in range(len(sizes) - 1, -1, -1):
        if each != dim and sizes[each] != 1:
            steps = np.arange(0, sizes[each] * stride, stride) if stride else np.zeros(sizes[each], np.int64)
            steps = steps.reshape((-1,) + (1,) * (len(sizes) - 1 - each))
            starts = steps if starts is None else starts + steps
        stride *= shape[each]
    return starts


_FEW = 1 << 10  # places for which it is remembered
_few_starts = lru_cache(maxsize=256)(_starts)


def check_index_rows(op: str, input: Array, dim: int, index: Array, source: Array) -> None:
    if index.ndim > 1:
        raise IndexError(
            f"{op}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{scalar_name(index)} and size: {list(index.shape)}"
        )
    if index.dtype not in INDEX_DTYPES:
        raise RuntimeError(f"{op}(): Expected dtype int32/int64 for index but got: {scalar_name(index)}")
    if input.dtype != source.dtype:
        raise RuntimeError(
            f"{op}(): self ({scalar_name(input)}) and source ({scalar_name(source)}) must have the same scalar " "type"
        )
    if dim and dim >= source.ndim:
        raise RuntimeError(f"{op}(): Indexing dim {dim} is out of bounds of the source tensor with dim {source.ndim}")
    rows = source.shape[dim] if dim < source.ndim else 1
    if not source.ndim and index.size != 1:
        view_geometry.unbind_dim(source.shape, dim)
    if index.size != rows:
        raise RuntimeError(
            f"{op}(): Number of indices ({index.size}) should be equal to source.size(dim): ({rows}), for dim: "
            f"{dim}"
        )
    if source.ndim != input.ndim or _without(source.shape, dim) != _without(input.shape, dim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return (*shape[:dim], *shape[dim + 1 :])
