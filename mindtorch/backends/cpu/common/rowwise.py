"""Reductions of many short rows, each to its largest number, its smallest or its product.

NumPy begins anew for each row, which takes as long as some dozens of numbers. Here one call is for all rows of a block:
each element is combined with its neighbour, then with the element two places on, then four, and so on, so that it
stands for 2, 4, 8 elements from its own place on. Those near the end of a row reach into the next one, but a row is put
together from its first element and, where its length is no power of two, from those that follow what is done.
"""

from typing import Any

import numpy as np

Array = np.ndarray

_BLOCK = 1 << 17  # bytes: they stay in the cache, and pay for a dozen calls
_SHORT = 1 << 7  # bytes: rows of more are NumPy's, which takes several numbers of one at once
MANY_ROWS = 512


def reduce_rows(function: np.ufunc, input: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """function.reduce for np.maximum, np.minimum and np.multiply, in the dtype of the operand."""
    length = _row_length(input, dims)
    if not length:
        return function.reduce(input, dims, input.dtype, None, keepdim)
    rows = input.reshape(-1, length)
    result = np.empty(len(rows), input.dtype)
    _reduce_in_blocks(function, rows, result)
    kept = input.shape[: input.ndim - len(dims)]
    return result.reshape(kept + (1,) * len(dims) if keepdim else kept)


def _row_length(input: Array, dims: tuple[int, ...]) -> int:
    """Of how many elements the rows are; 0 if NumPy is to reduce them."""
    size, ndim = input.size, input.ndim
    if size < MANY_ROWS or not 0 < len(dims) < ndim or not input.flags.c_contiguous:
        return 0
    length = 1
    for each in dims:
        if each < ndim - len(dims):
            return 0
        length *= input.shape[each]
    return length if length * input.itemsize <= _SHORT and size >= MANY_ROWS * length else 0


def _reduce_in_blocks(function: np.ufunc, rows: Array, result: Array) -> None:
    length = rows.shape[1]
    count = min(max(_BLOCK // (length * rows.itemsize), 1), len(rows))
    spare = [np.empty(count * length, rows.dtype) for _ in range(2)]
    for start in range(0, len(rows), count):
        _reduce_short(function, rows[start : start + count], result[start : start + count], spare)


def _reduce_short(function: Any, rows: Array, result: Array, spare: list[Array]) -> None:
    """`reach` is for how many elements each one stands, `done` how many of a row are in the result."""
    length, elements = rows.shape[1], rows.reshape(-1)
    reach, done = 1, 0
    while True:
        if length & reach:
            first = elements[done::length][: len(result)]
            if done:
                function(result, first, out=result)
            else:
                result[...] = first
            done += reach
        if done == length:
            return
        further = spare[0][: elements.size - reach]
        function(elements[:-reach], elements[reach:], out=further)
        spare.reverse()
        elements, reach = further, 2 * reach
