"""Arrays of one shape, a part of each at a time, so that what is computed of a part stays in the cache."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

BLOCK = 1 << 14  # elements: a handful of such arrays fit into the level-2 cache


def parts_of(arrays: Sequence[np.ndarray], largest: int) -> Iterator[list[np.ndarray]]:
    """Views of at most `largest` elements, of all arrays the same, as long as the innermost dimension allows it."""
    shape = arrays[0].shape
    if prod(shape) <= largest:
        yield list(arrays)
        return
    dim = next(dim for dim in range(len(shape)) if prod(shape[dim + 1 :]) <= largest)
    rows = max(largest // prod(shape[dim + 1 :]), 1)
    for index in np.ndindex(shape[:dim]):
        outer = [array[index] for array in arrays]
        for start in range(0, shape[dim], rows):
            yield [array[start : start + rows] for array in outer]
