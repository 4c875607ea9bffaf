"""Positions that point beyond an array, which ACLNN does not look for.

By CANN's documents a device then reads anything, writes anywhere or fails. Where each launch is waited for
(`ASCEND_LAUNCH_BLOCKING=1`), the positions are looked at before it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Sizes = Iterator[tuple[Any, int, int]]  # an array of positions, the least one that is right, and the end
Taken = Callable[[Sequence[Any]], Sizes]


def _rows(at: int) -> Taken:
    """Of a table that comes first."""
    return lambda given: iter([(given[at], 0, given[0].shape[0])])


def _along(at: int) -> Taken:
    """Of a dimension, whose number comes second."""
    return lambda given: iter([(given[at], 0, (given[0].shape or (1,))[given[1]])])


def _classes(at: int, ignored: int, dim: int) -> Taken:
    def taken(given: Sequence[Any]) -> Sizes:
        classes = given[at - 1].shape
        yield _without(given[at], given[ignored]), 0, classes[dim if len(classes) > 1 else 0]

    return taken


def _without(array: Any, ignored: int) -> np.ndarray:
    found = array.to_numpy()
    return found[found != ignored]


def _labels(at: int) -> Taken:
    return lambda given: iter([(given[at], 0, given[at - 1].shape[-1])])


def _places(at: int, dims: int, of: int) -> Taken:
    """Of planes or volumes."""
    return lambda given: iter([(given[at], 0, math.prod(given[of].shape[-dims:]))])


def _dimensions(given: Sequence[Any]) -> Sizes:
    """One array for each dimension; an empty one stands for all of it."""
    for size, each in zip(given[0].shape, given[1]):
        yield each, -size, size


def _elements(given: Sequence[Any]) -> Sizes:
    yield given[1], -given[0].size, given[0].size


def _bags(given: Sequence[Any]) -> Sizes:
    indices, offsets = given[1], given[2].to_numpy()
    starts = offsets[:-1] if given[7] else offsets
    yield indices, 0, given[0].shape[0]
    yield starts[:1], 0, 1
    yield np.diff(starts), 0, indices.size + 1
    yield starts, 0, indices.size + 1


# The functions that take positions; what each takes is in the documents of CANN.
TAKEN: dict[str, Taken] = {
    "aclnnAdaptiveMaxPool2dBackward": _places(2, 2, 1),
    "aclnnAdaptiveMaxPool3dBackward": _places(2, 3, 1),
    "aclnnCtcLoss": _labels(1),
    "aclnnCtcLossBackward": _labels(2),
    "aclnnEmbedding": _rows(1),
    "aclnnEmbeddingBag": _bags,
    "aclnnEmbeddingDenseBackward": lambda given: iter([(given[1], 0, given[2])]),
    "aclnnEmbeddingRenorm": _rows(1),
    "aclnnGather": _along(2),
    "aclnnIndex": _dimensions,
    "aclnnIndexAdd": _along(2),
    "aclnnIndexPutImpl": _dimensions,
    "aclnnIndexSelect": _along(2),
    "aclnnInplacePut": _elements,
    "aclnnMaxPool3dWithArgmaxBackward": _places(2, 3, 1),
    "aclnnMaxUnpool2d": _places(1, 2, 3),
    "aclnnMaxUnpool3d": _places(1, 3, 5),
    "aclnnNLLLoss": _classes(1, 4, 1),
    "aclnnNLLLoss2d": _classes(1, 4, 1),
    "aclnnNLLLoss2dBackward": _classes(2, 5, 1),
    "aclnnNLLLossBackward": _classes(2, 5, 1),
    "aclnnScatter": _along(2),
    "aclnnScatterAdd": _along(2),
    "aclnnScatterReduce": _along(2),
    "aclnnScatterValue": _along(2),
}


def check(function: str, given: Sequence[Any]) -> None:
    """Refuse positions that point beyond what they are taken of. Waits for the device."""
    taken = TAKEN.get(function)
    if taken is None:
        return
    for array, least, end in taken(given):
        if array.size:
            found = array if isinstance(array, np.ndarray) else array.to_numpy()
            check_found(found, least, end, f"{function}, which takes {least} to {end - 1}")


def check_found(found: np.ndarray, least: int, end: int, where: str) -> None:
    """The same for positions that are on the host."""
    wrong = found[(found < least) | (found >= end)]
    if wrong.size:
        raise IndexError(f"index {wrong.flat[0]} is out of bounds for {where}")
