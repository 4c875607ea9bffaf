"""Functions of NumPy at the price that a few elements are worth.

Some are NumPy's own, without its question whether an argument wants to do the work itself (`__array_function__`). For a
few elements the question is more than half of the price. Arrays of other backends do want it, to refuse in words
of their own: where one may stand, who gets a TypeError here asks NumPy's own function.

Others NumPy has as reductions, which take a microsecond whatever they reduce, or as functions in Python, which take
three or more. What is here gives the same results, for arrays of NumPy only.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

Array = np.ndarray

concatenate = getattr(np.concatenate, "_implementation", np.concatenate)
copyto = getattr(np.copyto, "_implementation", np.copyto)
may_share_memory = getattr(np.may_share_memory, "_implementation", np.may_share_memory)
count_nonzero = getattr(np.count_nonzero, "_implementation", np.count_nonzero)

WRITTEN_OVER = 1 << 8  # elements, up to which a choice is quicker as two copies
_INT64, _UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
_FEW = 1 << 12  # elements, for which what a call of NumPy asks and prepares takes longer than its loop


def is_any(mask: Array) -> bool:
    """Whether any element is true. Of many the reduction need not see all."""
    return bool(count_nonzero(mask) if mask.size <= _FEW else mask.any())


def is_all(mask: Array) -> bool:
    """Whether all elements are true."""
    return bool(count_nonzero(mask) == mask.size if mask.size <= _FEW else mask.all())


def largest(array: Array) -> float:
    """The largest element of some as a Python number, NaN if there is one."""
    return array.item(array.argmax()) if array.size <= _FEW else array.max().item()


def smallest(array: Array) -> float:
    """The smallest element of some as a Python number, NaN if there is one."""
    return array.item(array.argmin()) if array.size <= _FEW else array.min().item()


def is_within(integers: Array, first: int, stop: int) -> bool:
    """Whether all integers, if there are any, are at least `first` and below `stop`."""
    if not first and integers.dtype is _INT64 and 0 < integers.size <= _FEW:
        unsigned = integers.view(_UINT64)  # in which negative ones are larger than all others
        return bool(unsigned.item(unsigned.argmax()) < stop)
    return not integers.size or (smallest(integers) >= first and largest(integers) < stop)


def moveaxis(array: Array, source: int, destination: int) -> Array:
    """A view with one dimension at another place."""
    order = list(range(array.ndim))
    order.insert(destination % array.ndim, order.pop(source))
    return array.transpose(order)


def stack(arrays: Sequence[Array]) -> Array:
    """A new array of arrays of one shape and dtype."""
    return concatenate([each[None] for each in arrays])


def broadcast_to(array: Array, shape: tuple[int, ...]) -> Array:
    """An array of this shape for reading: the given one, where NumPy would make a view, or a copy of few elements."""
    if array.shape == shape:
        return array
    if array.size > _FEW or prod(shape) > _FEW:
        return np.broadcast_to(array, shape)
    result = np.empty(shape, array.dtype)
    copyto(result, array)
    return result


def copied_at_once(target: Array, source: Array) -> bool:
    """Copy few elements into an array of the same class, dtype and shape; False, with nothing copied, for any other."""
    if target.dtype is not source.dtype or target.shape != source.shape or target.size > _FEW:
        return False
    if type(target) is not type(source):
        return False
    copyto(target, source)
    return True


def where(condition: Array, a: Array, b: Array) -> Array:
    """The elements of `a` where the condition holds, else of `b`, two arrays of one dtype. Few are written over a copy,
    which takes a third of the time; it branches for each, so that it would take twice the time for many."""
    shape = condition.shape
    if not shape or b.size > WRITTEN_OVER or type(b) is not Array or b.shape != shape or a.dtype is not b.dtype:
        return np.where(condition, a, b)
    if not b.flags.c_contiguous or (a.ndim and a.shape != shape):
        return np.where(condition, a, b)
    result = b.copy()
    copyto(result, a, where=condition)
    return result


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """NumPy's, which is not asked about shapes that are alike."""
    return shapes[0] if shapes.count(shapes[0]) == len(shapes) else np.broadcast_shapes(*shapes)


def ndindex(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every place of an array of this shape, in the order of rows."""
    return product(*map(range, shape))


def take_along_last(array: Array, places: Array) -> Array:
    """The elements of each row, along the last dimension, that stand at its places, none of which is negative."""
    if array.ndim == 1:
        return array.take(places)
    if not array.flags.c_contiguous:
        return np.take_along_axis(array, places, -1)
    *rows, length = array.shape
    return array.reshape(-1).take(places + row_starts(prod(rows), length).reshape(*rows, 1))


def row_starts(rows: int, length: int) -> Array:
    """The places of the first elements of rows of one length that lie one after the other; few are remembered."""
    return (_few_row_starts if rows <= _FEW else _row_starts)(rows, length)


def _row_starts(rows: int, length: int) -> Array:
    starts = np.arange(rows) * length
    starts.flags.writeable = False  # it may be handed out again
    return starts


_few_row_starts = lru_cache(maxsize=256)(_row_starts)
