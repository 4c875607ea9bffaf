"""Whole rows that are added to, or picked, by an index of one dimension."""

from math import prod
from typing import Any

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import moveaxis
from mindtorch.backends.cpu.common.halves import convert_into
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.compiled.choice import IS_ON
from mindtorch.backends.cpu.indexing.advanced import add_at, compiled_adding, open_key
from mindtorch.backends.cpu.indexing.targets import flat_places

Array = np.ndarray

scipy_sparse: Any = lazy("scipy.sparse")

_LONG_ROW = 1 << 12  # elements, from which on a call of NumPy for each row is no burden
_MANY = 1 << 13  # elements that are worth a product


def row_index(index: Array, dim: int, shape: tuple[int, ...]) -> Array | None:
    """The rows along `dim` of an array of a shape that an index of as many dimensions means; None if it means parts of
    rows, or different ones: `expand` makes indices that are the same along all other dimensions."""
    if index.ndim != len(shape) or index.ndim < 2 or not index.size:
        return None
    for each, (extent, stride) in enumerate(zip(index.shape, index.strides)):
        if each != dim and (extent != shape[each] or (stride and extent != 1)):
            return None
    return index[(*[0] * dim, slice(None), *[0] * (index.ndim - dim - 1))]


def add_rows(target: Array, dim: int, index: Array, source: Array) -> None:
    """Adds rows along `dim` to those that the index means, one after the other where it names one several times."""
    if IS_ON and target.ndim and (loop := compiled_adding(target, dim, index, source)) is not None:
        inner = prod(target.shape[dim + 1 :])
        both = [each.reshape(*each.shape[: dim + 1], inner) for each in (source, target)]
        loop(index, *both)
        return
    if source.size >= _LONG_ROW * index.size:
        rows = moveaxis(target, dim, 0)
        for place, row in zip(index.tolist(), moveaxis(source, dim, 0)):
            rows[place] += row
    elif source.size >= _MANY and target.dtype.kind in "fc" and target.ndim > 1:
        _add_by_product(moveaxis(target, dim, 0), index, moveaxis(source, dim, 0))
    elif target.flags.c_contiguous:
        places = index.reshape((-1,) + (1,) * (target.ndim - 1 - dim))
        add_at(target.reshape(-1), (flat_places(places, dim, source.shape, target.shape),), source)
    else:
        add_at(target, open_key(target.shape, [*[None] * dim, index]), source)


def add_rows_exactly(target: Array, dim: int, index: Array, source: Array) -> None:
    """The same; numbers of two bytes are added up in float32, and rounded once."""
    wide = widen(target)
    quiet(add_rows, wide, dim, index, widen(source))
    if wide is not target:
        convert_into(target, wide)


def _add_by_product(target: Array, index: Array, source: Array) -> None:
    """The sums of the rows that are added to, and of what is added to them, are a product with a sparse matrix of ones.

    It goes through its columns in their order, so that the bits are those of one addition after the other.
    """
    is_named = np.zeros(len(target), bool)
    is_named[index] = True
    named = np.flatnonzero(is_named)
    places = (np.cumsum(is_named) - 1)[index]
    before = target[named]
    if before.any():
        source = np.concatenate([before, source])
        places = np.concatenate([np.arange(len(named)), places])
    columns = np.ones(len(places), target.dtype), places, np.arange(len(places) + 1)
    sums = scipy_sparse.csc_array(columns, shape=(len(named), len(places))) @ source.reshape(len(places), -1)
    target[named] = sums.reshape(before.shape)
