"""Sums of floating-point numbers, of which the rounding errors grow slowly over any dimensions and in any layout.

NumPy adds in pairs what lies in a row, but row to row one by one, and the error of that grows with their number. Here
at most 128 rows, or 1024 numbers of a row, of which a vector register takes many at a time, make a partial sum, and the
partial sums are added likewise. Where memory has no gaps, a product with ones does that: BLAS takes a fraction of
NumPy's time, and a twentieth of it where rows are short.

How an array is divided follows from its shape and strides alone: the same numbers have the same sum, to the bit, at any
address and beside any other thread.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.promotion import DOUBLE, FLOAT
from mindtorch._support.numpy_functions import is_any, ndindex
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray

_ROW = 1024  # numbers of a row that BLAS adds up in one go,
_ROWS = 128  # rows that it does, and
_STRIDED_ROWS = 64  # those that NumPy does
_WIDE = 512  # columns below which several rows are made one
_MANY = 512  # rows for which a scalar product for each is quicker than the product of the matrix
_FEW = 8  # columns below which each is added up alone where memory has gaps

# The ones, by dtype and number.
ONES = {
    dtype: [ones[:size] for size in range(_ROW + 1)]
    for dtype, ones in {dtype: aligned.ones(_ROW, dtype) for dtype in (FLOAT, DOUBLE)}.items()
}


def add_up(input: Array, dims: tuple[int, ...], keepdim: bool = False) -> Array:
    """The sum over some dimensions; integers are added up in 64 bits, and wrap around."""
    if input.size > _ROWS and can_add_up_directly(input):
        return add_up_directly(input, dims, keepdim)
    if input.size <= _ROWS or input.dtype.kind not in "fc" or not dims:
        return np.asarray(np.add.reduce(input, dims, None, None, keepdim))
    if not input.flags.c_contiguous:
        return _in_memory_order(input, dims, keepdim)
    return add_up_directly(parts_of(input), dims, keepdim).view(input.dtype)[..., 0]


def parts_of(numbers: Array) -> Array:
    """Row-major complex numbers as real ones, with a dimension for the two parts."""
    return numbers.view(numbers.real.dtype).reshape(*numbers.shape, 2)


# -------------------- means --------------------


def average(values: Array, dims: tuple[int, ...]) -> Array:
    """The mean over some dimensions, which are kept."""
    total = add_up(values, dims, True)
    return np.divide(total, kept_constant(values.size // max(total.size, 1), total.dtype), total)


# How many times its own rounding error a mean may be larger than the deviations from it. That error is then too small
# by the square of it to matter.
_CERTAIN = 1024.0
_FEW_MEANS = 256
_SMALL_SQUARES = {dtype: float(_CERTAIN * np.finfo(dtype).eps) ** 2 for dtype in (FLOAT, DOUBLE)}


def doubtful(squares: Array, mean: Array, number: int) -> Array | None:
    """Where the sum of the squared distances from a mean, of `number` values, could be that of its rounding error.

    None if nowhere: there the distances are exact enough.
    """
    if squares.size <= _FEW_MEANS and squares.flags.c_contiguous and mean.flags.c_contiguous and squares.size:
        means = mean.reshape(-1)
        if means.dot(means) * number * _SMALL_SQUARES[squares.dtype] < squares.item(squares.argmin()) / 2:
            return None  # a single square is no larger than the sum of all
    smallest = np.multiply(mean, mean)
    smallest = np.multiply(smallest, kept_constant(number * _SMALL_SQUARES[squares.dtype], squares.dtype))
    where = np.less(squares, smallest)
    return where if is_any(where) else None


def recentred(
    values: Array, mean: Array, where: Array, dims: tuple[int, ...], out: Array | None = None
) -> tuple[Array, Array]:
    """A mean that is `doubtful` there, corrected by the mean of the distances from it, and the distances.

    Values that are all equal have distances of 0 then; of others, what the mean is rounded by is taken off, too.
    """
    mean = np.where(where, mean + average(values - mean, dims), mean)
    distances = np.subtract(values, mean, out=out)
    distances -= np.where(where, average(distances, dims), 0)
    return mean, distances


# -------------------- without gaps --------------------


def can_add_up_directly(input: Array) -> bool:
    """Whether an array is of float32 or float64, row-major and not empty."""
    dtype = input.dtype
    return (dtype is FLOAT or dtype is DOUBLE) and input.flags.c_contiguous and input.size > 0


def add_up_directly(input: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """The sum of such an array: over one run of neighbouring dimensions after the other, from the last one on."""
    if not keepdim and len(dims) == input.ndim:
        return add_up_rows(input.reshape(1, -1)).reshape(())
    if not keepdim and input.ndim == 2:
        if dims[0]:
            return add_up_rows(input)
        rows = len(input)
        return ONES[input.dtype][rows].dot(input) if rows <= _ROWS else _columns(input[None])[0]
    shape = list(input.shape)
    for start, stop in _runs(dims):
        length, inner = prod(shape[start:stop]), prod(shape[stop:])
        input = add_up_rows(input.reshape(-1, length)) if inner == 1 else _columns(input.reshape(-1, length, inner))
        shape[start:stop] = [1] * (stop - start)
    return input.reshape(shape if keepdim else [size for dim, size in enumerate(shape) if dim not in dims])


def _runs(dims: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring dimensions as ranges, the last one first."""
    if len(dims) == 1:
        return [(dims[0], dims[0] + 1)]
    runs: list[tuple[int, int]] = []
    for dim in sorted(dims, reverse=True):
        if runs and runs[-1][0] == dim + 1:
            runs[-1] = (dim, runs[-1][1])
        else:
            runs.append((dim, dim + 1))
    return runs


def add_up_rows(rows: Array) -> Array:
    """The sum of each row of a matrix without gaps in its rows."""
    count, length = rows.shape
    ones = ONES[rows.dtype]
    if length <= _ROW:
        if count > 1:
            return rows.dot(ones[length])
        total = np.empty((), rows.dtype)
        rows[0].dot(ones[length], total)
        return total.reshape(1)
    parts = length // _ROW
    whole = parts * _ROW
    if count == 1 or whole == length:
        matrix = rows[:, :whole].reshape(-1, _ROW)
        sums = np.vecdot(matrix, ones[_ROW]) if len(matrix) >= _MANY else matrix.dot(ones[_ROW])
        sums = sums.reshape(count, parts)
    else:
        sums = np.matmul(rows[:, :whole].reshape(count, parts, _ROW), ones[_ROW])
    total = add_up_rows(sums)
    return total if whole == length else np.add(total, add_up_rows(rows[:, whole:]), total)


def _columns(x: Array) -> Array:
    """The sums (outer, columns) of (outer, rows, columns)."""
    outer, rows, columns = x.shape
    ones = ONES[x.dtype]
    if columns == 1:
        return add_up_rows(x[:, :, 0]).reshape(outer, 1)
    if rows <= _ROWS:
        return ones[rows].dot(x[0]).reshape(1, columns) if outer == 1 else np.matmul(ones[rows], x)
    joined = _ROW // columns if outer == 1 and columns < _WIDE and x.flags.c_contiguous else 0
    if joined and rows >= 2 * joined:
        whole = rows - rows % joined
        total = _columns(_columns(x[:, :whole].reshape(1, -1, joined * columns)).reshape(1, joined, columns))
    else:
        whole = rows - rows % _ROWS
        total = _columns(np.matmul(ones[_ROWS], x[:, :whole].reshape(outer, -1, _ROWS, columns)))
    return total if whole == rows else np.add(total, _columns(x[:, whole:]), total)


def dot_rows(a: Array, b: Array) -> Array:
    """The sum of the products of each row of two matrices of float32 or float64."""
    count, length = a.shape
    whole = length - length % _ROW
    if length <= 2 * _ROW:
        return np.vecdot(a, b)
    total = add_up_rows(np.vecdot(*[each[:, :whole].reshape(count, -1, _ROW) for each in (a, b)]))
    return total if whole == length else np.add(total, np.vecdot(a[:, whole:], b[:, whole:]), total)


# -------------------- with gaps --------------------


def _in_memory_order(input: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """The same with the dimensions in the order in which they lie in memory, which may leave no gaps."""
    order = sorted(range(input.ndim), key=lambda dim: -input.strides[dim])
    x = input.transpose(order)
    places = tuple([place for place, dim in enumerate(order) if dim in dims])
    total = add_up(x, places, True) if x.flags.c_contiguous else _with_gaps(x, places)
    total = total.transpose(sorted(range(input.ndim), key=order.__getitem__))
    return total if keepdim else total.squeeze(dims)


def _with_gaps(x: Array, dims: tuple[int, ...]) -> Array:
    """The innermost dimension first; all are kept. BLAS knows of gaps between rows, for others it has to be NumPy."""
    axis, length, inside = dims[-1], x.shape[dims[-1]], x.shape[dims[-1] + 1 :]
    inner = prod(inside)
    if x.dtype in ONES and axis == x.ndim - 2 < 2 and x.strides[-1] == x.itemsize:
        total = _columns(x)[:, None] if axis else _columns(x[None])
    elif inner == 1 or length <= _STRIDED_ROWS:
        total = np.add.reduce(x, axis, None, None, True)
    elif inner <= _FEW:
        total = np.empty((*x.shape[:axis], 1, *inside), x.dtype)
        for place in ndindex(inside):
            total[(..., 0, *place)] = np.add.reduce(x[(..., *place)], -1)
    else:
        total = _blocks_of_rows(x, axis)
    return add_up(total, dims[:-1], True) if len(dims) > 1 else total


def _blocks_of_rows(x: Array, axis: int) -> Array:
    blocks = x.shape[axis] // _STRIDED_ROWS
    whole = blocks * _STRIDED_ROWS
    before: tuple[Any, ...] = (slice(None),) * axis
    split = x[(*before, slice(whole))].reshape(*x.shape[:axis], blocks, _STRIDED_ROWS, *x.shape[axis + 1 :])
    total = add_up(np.add.reduce(split, axis + 1), (axis,), True)
    rest = x[(*before, slice(whole, None))]
    return total if whole == x.shape[axis] else np.add(total, np.add.reduce(rest, axis, None, None, True), total)
