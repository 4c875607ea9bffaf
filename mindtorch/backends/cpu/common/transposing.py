"""Large copies between arrays whose memory lies in different orders.

NumPy copies element by element along the innermost dimension of the target. That is slow in three cases, which have
functions of their own here:

- Short runs of elements lie together in both arrays: each run is copied as one element of a large dtype.
- The innermost dimension has a few elements: one after the other of them is copied for all the rest.
- The source has the elements of the innermost dimension far apart. Each of them costs a cache line and often a page,
  and if the distance is a multiple of a power of two, all these lines compete for the same few places of the cache, so
  that the other elements of the line are gone before they are needed. Blocks are then copied first to where their rows
  have an uneven distance, and from there to the target.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mindtorch._support.numpy_functions import copyto

Array = np.ndarray
Ints = tuple[int, ...]

_LARGE = 1 << 15  # elements: less than that is in the cache anyway
_FEW = 8
_RUN_BYTES = 1 << 11  # longer runs are copied fast by NumPy
_BLOCK_COLUMNS, _BLOCK_BYTES, _PADDING = 128, 1 << 12, 16  # columns of a block, bytes of each, elements between them
_SPREAD = 1 << 20  # bytes from the first to the last element of the innermost dimension that are far apart


def copy_elements(target: Array, source: Array) -> None:
    """np.copyto for arrays of one dtype, which like it reads all before it writes where they share memory."""
    if source.size >= _LARGE and source.shape == target.shape and not np.may_share_memory(target, source):
        walk = walk_of(target.shape, target.strides, source.strides, target.itemsize)
        if walk is not None:
            walk.copy(as_strided(target, walk.shape, walk.target), as_strided(source, walk.shape, walk.source))
            return
    try:
        copyto(target, source)
    except TypeError:
        np.copyto(target, source)


class _Walk(NamedTuple):
    """How the elements of two arrays are walked together: `copy` takes views of this shape and these strides."""

    copy: Callable[[Array, Array], None]
    shape: Ints
    target: Ints
    source: Ints


class _Dim(NamedTuple):
    """Some dimensions that are one in memory, in the target and in the source."""

    target: int
    source: int
    extent: int


@lru_cache(maxsize=256)
def walk_of(shape: Ints, target: Ints, source: Ints, itemsize: int) -> _Walk | None:
    """A better way than NumPy's, if there is one."""
    all_dims = zip(target, source, shape, strict=True)
    dims = _merged(sorted([_Dim(*dim) for dim in all_dims if dim[2] > 1], reverse=True))
    if len(dims) < 2 or any(dim.target <= 0 or dim.source <= 0 for dim in dims):
        return None
    last = dims[-1]
    near = min(dims, key=lambda dim: dim.source)
    if near is last:
        is_run = last.target == last.source == itemsize and last.extent * itemsize <= _RUN_BYTES
        return _walk(_copy_runs, dims) if is_run else None
    if near.extent * last.extent < _LARGE:
        return None
    matrices = [*(dim for dim in dims if dim is not near and dim is not last), near, last]
    if last.extent <= _FEW:
        return _walk(_copy_columns, matrices)
    return _walk(_copy_blocks, matrices) if last.extent * last.source >= _SPREAD else None


def _merged(dims: Sequence[_Dim]) -> list[_Dim]:
    """The dimensions, given outermost first, with those made one that are walked as one."""
    result: list[_Dim] = []
    for dim in dims:
        if result and result[-1][:2] == (dim.target * dim.extent, dim.source * dim.extent):
            dim = dim._replace(extent=dim.extent * result.pop().extent)
        result.append(dim)
    return result


def _walk(copy: Callable[[Array, Array], None], dims: Sequence[_Dim]) -> _Walk:
    target, source, shape = zip(*dims, strict=True)
    return _Walk(copy, shape, target, source)


def _copy_runs(target: Array, source: Array) -> None:
    run: np.dtype[Any] = np.dtype((np.void, target.shape[-1] * target.itemsize))
    np.copyto(target.view(run), source.view(run))


def _copy_columns(target: Array, source: Array) -> None:
    for column in range(target.shape[-1]):
        target[..., column] = source[..., column]


def _copy_blocks(target: Array, source: Array) -> None:
    rows, columns = target.shape[-2:]
    height = min(rows, _BLOCK_BYTES // target.itemsize)
    block = np.empty((min(columns, _BLOCK_COLUMNS), height + _PADDING), target.dtype)
    outer = target.shape[:-2]
    for number in range(prod(outer)):
        index = np.unravel_index(number, outer)
        _copy_matrix(target[index], source[index], block, height)


def _copy_matrix(target: Array, source: Array, block: Array, height: int) -> None:
    rows, columns = target.shape
    for left in range(0, columns, _BLOCK_COLUMNS):
        for top in range(0, rows, height):
            part = source[top : top + height, left : left + _BLOCK_COLUMNS].T
            copied = block[: part.shape[0], : part.shape[1]]
            copied[...] = part
            target[top : top + height, left : left + _BLOCK_COLUMNS] = copied.T
