"""Resizing images: each dimension is resampled on its own, and a result is a weighted sum of a few input elements.

`taps_of` says for each dimension which elements and weights these are, `gather_all` applies them, and `scatter_all` is
the transpose, which takes gradients back to the input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np

from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import moveaxis

scipy_sparse = lazy("scipy.sparse")


class Taps(NamedTuple):
    """For each place of the output the indices of the elements that it is made of, and, unless it is one, weights.

    `counts`, unless all columns count for all places: what is beyond is no element, not even one with the weight 0, of
    which an infinity would make a nan.
    """

    indices: np.ndarray
    weights: np.ndarray | None
    counts: np.ndarray | None = None

    def rows_of(self, column: int) -> Any:
        """The places for which a column counts."""
        if self.counts is None or self.counts.min() > column:
            return slice(None)
        return np.flatnonzero(self.counts > column)


class Side(NamedTuple):
    """What happens to one dimension. `scale` is the factor that the caller gave, which need not be out / size."""

    size: int
    out: int
    align: bool = False
    scale: float | None = None

    def ratio(self, dtype: np.dtype) -> np.floating:
        """How far apart two neighbouring places of the output are in the input."""
        kind = dtype.type
        if self.align:
            return kind(self.size - 1) / kind(self.out - 1) if self.out > 1 else kind(0)
        if self.scale is not None and self.scale > 0:
            return kind(1.0 / self.scale)
        return kind(self.size) / kind(self.out)

    def centres(self, dtype: np.dtype) -> np.ndarray:
        """Where the places of the output lie in the input."""
        places = np.arange(self.out).astype(dtype)
        ratio = self.ratio(dtype)
        return ratio * places if self.align else ratio * (places + dtype.type(0.5)) - dtype.type(0.5)


# -------------------- kinds of taps --------------------


def nearest(side: Side, dtype: np.dtype) -> Taps:
    """The element at or below, as OpenCV takes it."""
    return _one_element(side, np.arange(side.out).astype(dtype) * side.ratio(dtype))


def nearest_backward(side: Side, dtype: np.dtype) -> Taps:
    """Where gradients of `nearest` go in torch: equal and doubled sizes are exact, whatever the scale given."""
    if side.out in (side.size, 2 * side.size):
        return Taps((np.arange(side.out) * side.size // side.out)[:, None], None)
    return nearest(side, np.dtype(np.float32))


def nearest_exact(side: Side, dtype: np.dtype) -> Taps:
    """The element whose centre is nearest, as Pillow takes it."""
    return _one_element(side, (np.arange(side.out).astype(dtype) + dtype.type(0.5)) * side.ratio(dtype))


def _one_element(side: Side, places: np.ndarray) -> Taps:
    indices = np.minimum(np.floor(places).astype(np.int64), side.size - 1)
    return Taps(indices[:, None], None)


def linear(side: Side, dtype: np.dtype) -> Taps:
    """The two neighbours, the nearer one weighted more."""
    if side.size == side.out:
        return unchanged(side)
    centres = np.maximum(side.centres(dtype), 0)
    low = np.minimum(centres.astype(np.int64), side.size - 1)
    high = np.minimum(low + 1, side.size - 1)
    share = (centres - low).clip(0, 1).astype(dtype)
    return Taps(np.stack([low, high], 1), np.stack([1 - share, share], 1))


def cubic(side: Side, dtype: np.dtype) -> Taps:
    """The four neighbours, weighted by a cubic convolution; beyond the edge its element is repeated."""
    centres = side.centres(dtype)
    low = np.floor(centres).astype(np.int64)
    share = (centres - low).clip(0, 1).astype(dtype)
    offsets = np.arange(-1, 3)
    weights = _cubic_filter(share[:, None] - offsets.astype(dtype), -0.75)
    return Taps((low[:, None] + offsets).clip(0, side.size - 1), weights.astype(dtype))


def _cubic_filter(distance: np.ndarray, a: float) -> np.ndarray:
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _triangle_filter(distance: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(distance), 0)


def _sharp_cubic_filter(distance: np.ndarray) -> np.ndarray:
    return _cubic_filter(distance, -0.5)


def _lanczos_filter(distance: np.ndarray) -> np.ndarray:
    return np.where(np.abs(distance) < 3, np.sinc(distance) * np.sinc(distance / 3), 0)


def smooth_linear(side: Side, dtype: np.dtype) -> Taps:
    """A triangle over all elements that fall into a place of the output."""
    return _antialiased(side, dtype, _triangle_filter, 2)


def smooth_cubic(side: Side, dtype: np.dtype) -> Taps:
    """A cubic over all elements that fall into a place of the output."""
    return _antialiased(side, dtype, _sharp_cubic_filter, 4)


def smooth_lanczos(side: Side, dtype: np.dtype) -> Taps:
    """A sinc over three lobes on either side of all elements that fall into a place of the output."""
    return _antialiased(side, dtype, _lanczos_filter, 6)


def _antialiased(side: Side, dtype: np.dtype, filter: Callable[[np.ndarray], np.ndarray], width: int) -> Taps:
    ratio = side.ratio(dtype)
    spread = max(ratio, dtype.type(1))
    support = dtype.type(width * 0.5) * spread
    centres = ratio * (np.arange(side.out).astype(dtype) + dtype.type(0.5))
    first = np.maximum((centres - support + dtype.type(0.5)).astype(np.int64), 0)
    last = np.minimum((centres + support + dtype.type(0.5)).astype(np.int64), side.size)
    indices = first[:, None] + np.arange(int(np.ceil(support)) * 2 + 1)
    weights = filter((indices - centres[:, None] + dtype.type(0.5)) / spread)
    weights = np.where(indices < last[:, None], weights, 0)
    total = weights.sum(1, keepdims=True)
    weights = np.divide(weights, total, out=weights, where=total != 0)
    return Taps(np.minimum(indices, side.size - 1), weights.astype(dtype), np.maximum(last - first, 0))


def unchanged(side: Side) -> Taps:
    """A dimension that keeps its size is left as it is, whatever its scale; an antialiased one forwards only."""
    return Taps(np.arange(side.out)[:, None], None)


# -------------------- applying them --------------------

Kind = Callable[[Side, np.dtype], Taps]


@lru_cache(maxsize=256)
def _taps(kind: Kind, side: Side, dtype: np.dtype) -> Taps:
    return kind(side, dtype)


def taps_of(kind: Kind, sides: Sequence[Side], dtype: np.dtype) -> list[Taps]:
    """The taps of each dimension; places and weights are computed in `dtype`."""
    return [_taps(kind, side, dtype) for side in sides]


def gather_all(x: np.ndarray, taps: Sequence[Taps]) -> np.ndarray:
    """The results of taps for each of the last dimensions, the last one first."""
    pairs = reversed(list(enumerate(taps, x.ndim - len(taps))))
    return reduce(lambda array, pair: _gather(array, *pair), pairs, x)


def _gather(x: np.ndarray, axis: int, taps: Taps) -> np.ndarray:
    if taps.weights is None:
        return x.take(taps.indices[:, 0], axis)
    after = (1,) * (x.ndim - axis - 1)
    total = np.zeros((*x.shape[:axis], len(taps.indices), *x.shape[axis + 1 :]), x.dtype)
    for column, (indices, weights) in enumerate(zip(taps.indices.T, taps.weights.T)):
        rows = taps.rows_of(column)
        product = x.take(indices[rows], axis) * weights[rows].reshape(-1, *after).astype(x.dtype)
        total[(slice(None),) * axis + (rows,)] += product
    return total


def scatter_all(grad: np.ndarray, taps: Sequence[Taps], sizes: Sequence[int]) -> np.ndarray:
    """The transpose of `gather_all`, for an input whose last dimensions have these sizes."""
    steps = enumerate(zip(taps, sizes), grad.ndim - len(taps))
    return reduce(lambda array, step: _scatter(array, step[0], *step[1]), steps, grad)


def _scatter(grad: np.ndarray, axis: int, taps: Taps, size: int) -> np.ndarray:
    """Every element of grad, weighted, added to the elements that it was made of: a product with a sparse matrix."""
    places, count = taps.indices.shape
    weights = np.ones(taps.indices.shape, grad.dtype) if taps.weights is None else taps.weights.astype(grad.dtype)
    if taps.counts is None:
        entries, starts = (weights.ravel(), taps.indices.ravel()), np.arange(0, places * count + 1, count)
    else:
        is_used = np.arange(count) < taps.counts[:, None]
        entries, starts = (weights[is_used], taps.indices[is_used]), np.append(0, taps.counts.cumsum())
    matrix = scipy_sparse.csc_array((*entries, starts), shape=(size, places))
    moved = moveaxis(grad, axis, 0)
    result = matrix @ moved.reshape(places, -1)
    return moveaxis(result.reshape(size, *moved.shape[1:]), 0, axis)
