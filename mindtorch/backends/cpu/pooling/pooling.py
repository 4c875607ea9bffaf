"""Pooling over the last dimensions, two or three, one pass over the input for each position in the window."""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from mindtorch._support.numpy_functions import smallest
from mindtorch.backends.cpu.pooling.pooling_checks import (
    check_input,
    check_output,
    check_rank,
    check_reach,
    check_window,
    sides_of,
)
from mindtorch.iterator.constants import kept_constant

Dims = tuple[int, ...]


class Window(NamedTuple):
    """Where the windows lie: a number for each dimension, and the size of the grid of windows."""

    kernel: Dims
    stride: Dims
    padding: Dims
    dilation: Dims
    size: Dims

    @property
    def dims(self) -> int:
        return len(self.kernel)

    @lru_cache(maxsize=256)  # noqa: B019  (a window is a small tuple)
    def padded_size(self, size: Dims) -> Dims:
        """How large the input must be for every window to fit, with the padding on its low side."""
        sides = zip(size, self.kernel, self.stride, self.padding, self.dilation, self.size)
        return tuple(max(n + 2 * p, (o - 1) * s + d * (k - 1) + 1) for n, k, s, p, d, o in sides)

    @lru_cache(maxsize=256)  # noqa: B019
    def places(self) -> tuple[tuple, ...]:
        """For each position in the window the index of the elements under it, for all windows at once."""
        return tuple((..., *sides) for sides in product(*map(self._places_along, range(self.dims))))

    def _places_along(self, side: int) -> list[slice]:
        step, length = self.stride[side], self.stride[side] * (self.size[side] - 1) + 1
        starts = (self.dilation[side] * position for position in range(self.kernel[side]))
        return [slice(start, start + length, step) for start in starts]

    def overlaps(self) -> bool:
        return any(d * (k - 1) + 1 > s for k, s, d in zip(self.kernel, self.stride, self.dilation))


def window_of(
    x: np.ndarray, op: str, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil: bool
) -> Window:
    """The windows that cover x, after torch's checks."""
    return _window(x.shape, op, tuple(kernel), tuple(stride), tuple(padding), tuple(dilation), ceil)


@lru_cache(maxsize=256)
def _window(shape: Dims, op: str, kernel: Dims, stride: Dims, padding: Dims, dilation: Dims, ceil: bool) -> Window:
    sides, steps, pads, spread = sides_of(op, kernel, stride, padding, dilation)
    dims = len(sides)
    check_rank(op, shape, dims)
    check_window(sides, steps, pads, spread)
    check_input(op, shape, dims)
    check_reach(op, shape, sides, pads)
    size = tuple(_count(*side, ceil) for side in zip(shape[-dims:], sides, steps, pads, spread))
    check_output(shape, size)
    return Window(sides, steps, pads, spread, size)


def _count(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    free = size + 2 * padding - dilation * (kernel - 1) - 1
    count = -(-free // stride) + 1 if ceil else free // stride + 1
    if ceil and (count - 1) * stride >= size + padding:
        count -= 1  # the last window would start in the padding
    return count


def _pad(x: np.ndarray, window: Window, value: float) -> np.ndarray:
    size = window.padded_size(x.shape[-window.dims :])
    if size == x.shape[-window.dims :]:
        return x
    padded = np.full((*x.shape[: -window.dims], *size), value, x.dtype)
    _unpad(padded, window, x.shape)[...] = x
    return padded


def _unpad(padded: np.ndarray, window: Window, shape: Dims) -> np.ndarray:
    return padded[(..., *(slice(p, p + n) for p, n in zip(window.padding, shape[-window.dims :])))]


# -------------------- maximum --------------------


def maximum(x: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each window, and its index in the flattened plane: the first of several, or a NaN."""
    if 0 < x.size <= _FEW and x.flags.c_contiguous and (found := _maximum_of_few(x, window)) is not None:
        return found
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    padded = _pad(x, window, lowest)
    best, position = _first_largest(padded, window)
    if _needs_care(best) if x.dtype.kind == "f" else any(window.padding):
        position = _careful_position(padded, best, window, x.shape)
    offsets, starts = _index_of_position(window, x.shape[-window.dims :])
    return best, offsets.take(position) + starts


def _first_largest(padded: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Each window's maximum and the number of its position, by arithmetic, which is faster than masked copies."""
    counts = np.int8 if prod(window.kernel) < 128 else np.int32
    first, *others = window.places()
    best = padded[first].copy()
    position = np.zeros(best.shape, counts)
    for number, places in enumerate(others, 1):
        candidate = padded[places]
        better = (candidate > best).astype(counts)
        np.maximum(best, candidate, out=best)
        np.maximum(position, np.multiply(better, number, out=better), out=position)
    return best, position


_FEW = 1 << 11  # elements of images so small that calls of NumPy cost more than what they do
_MOST_PLACES = 1 << 13  # elements of all windows, of which the places are kept


def _maximum_of_few(x: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray] | None:
    """The same by one look at a copy of all windows; None where there is a NaN or a window without an element."""
    table = _table_of_windows(window, x.shape)
    if table is None:
        return None
    places, indices, begins = table
    elements = x.reshape(-1).take(places)
    best = np.maximum.reduce(elements, -1)
    if smallest(best) != smallest(best):
        return None
    return best, indices.take(elements.argmax(-1) + begins)


@lru_cache(maxsize=128)
def _table_of_windows(window: Window, shape: Dims) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The places of the elements of each window in the flattened input, and in their planes, and where a window begins
    in these. The first element of a window stands for those in the padding, too."""
    plane = shape[-window.dims :]
    padded = _pad(np.arange(prod(plane)).reshape(plane), window, -1)
    windows = np.stack([padded[places] for places in window.places()], -1)
    if not 0 < windows.size * prod(shape[: -window.dims]) <= _MOST_PLACES or (windows < 0).all(-1).any():
        return None
    first = np.take_along_axis(windows, (windows >= 0).argmax(-1)[..., None], -1)
    inside = np.where(windows < 0, first, windows)
    planes = np.arange(prod(shape[: -window.dims])).reshape(*shape[: -window.dims], *[1] * inside.ndim)
    places = planes * prod(plane) + inside
    begins = np.arange(0, inside.size, inside.shape[-1]).reshape(inside.shape[:-1])
    return places, inside.reshape(-1), begins


@lru_cache(maxsize=128)
def _places_by_position(window: Window, shape: Dims) -> np.ndarray | None:
    """For each position in the window the places of the elements under it in a flattened array of this shape."""
    places = np.stack([np.arange(prod(shape)).reshape(shape)[each] for each in window.places()])
    return places if 0 < places.size <= _MOST_PLACES else None


def _needs_care(best: np.ndarray) -> bool:
    """NaN compares false, and a window that holds only -inf must not choose an element of the padding."""
    return best.size > 0 and not smallest(best) > -np.inf


def _careful_position(padded: np.ndarray, best: np.ndarray, window: Window, shape: Dims) -> np.ndarray:
    inside = np.zeros(padded.shape[-window.dims :], bool)
    _unpad(inside, window, shape)[...] = True
    position = np.full(best.shape, -1)
    for number, places in enumerate(window.places()):
        candidate = padded[places]
        first = (candidate == best) & (position < 0) & inside[places]
        position[first | np.isnan(candidate)] = number
    return position


@lru_cache(maxsize=256)
def _index_of_position(window: Window, size: Dims) -> tuple[np.ndarray, np.ndarray]:
    """By position, its offset within the window; by window, the index of its first element, negative in padding."""
    jumps = [prod(size[dim + 1 :]) for dim in range(window.dims)]
    offsets = np.zeros((), np.int64)
    starts = np.zeros((), np.int64)
    for dim, jump in enumerate(jumps):
        offsets = offsets[..., None] + np.arange(window.kernel[dim]) * window.dilation[dim] * jump
        starts = starts[..., None] + (np.arange(window.size[dim]) * window.stride[dim] - window.padding[dim]) * jump
    return offsets.ravel(), starts


def scatter_to(grad: np.ndarray, indices: np.ndarray, shape: Dims, dims: int, overlapping: bool) -> np.ndarray:
    """A zero array of `shape` with each element of grad added at its index in its plane: the last `dims` dimensions."""
    plane, planes = prod(shape[-dims:]), prod(shape[:-dims])
    flat = indices.reshape(planes, prod(indices.shape[-dims:])) + plane * np.arange(planes)[:, None]
    if overlapping:
        summed = np.bincount(flat.ravel(), grad.ravel(), planes * plane)
        return summed.astype(grad.dtype).reshape(shape)
    result = np.zeros(shape, grad.dtype)
    result.reshape(-1)[flat.ravel()] = grad.ravel()
    return result


# -------------------- average --------------------


def average(x: np.ndarray, window: Window, divisor: np.ndarray | int) -> np.ndarray:
    padded = _pad(x, window, 0)
    if padded.size <= _FEW and (places := _places_by_position(window, padded.shape)) is not None:
        elements = padded.reshape(-1).take(places)  # the sums are in the same order, position by position
        return _divide(np.add.reduce(elements, 0, None, None, False, 0), divisor)
    total = np.zeros((*x.shape[: -window.dims], *window.size), x.dtype)
    for places in window.places():
        total += padded[places]
    return _divide(total, divisor)


def spread(grad: np.ndarray, shape: Dims, window: Window, divisor: np.ndarray | int) -> np.ndarray:
    """The gradient of `average` for an input of `shape`."""
    padded = np.zeros((*shape[: -window.dims], *window.padded_size(shape[-window.dims :])), grad.dtype)
    share = _divide(grad.copy(), divisor)
    for places in reversed(window.places()):  # torch's order, which half precision shows
        padded[places] += share
    return np.ascontiguousarray(_unpad(padded, window, shape))


@lru_cache(maxsize=256)
def divisor_of(window: Window, size: Dims, include_padding: bool, override: int | None) -> np.ndarray | int:
    """What each window's sum is divided by: a number, or an array over the grid of windows."""
    if override is not None:
        return override
    extents = (_extent(window, side, size[side], include_padding) for side in range(window.dims))
    divisors = reduce(np.multiply.outer, extents)
    return int(divisors.flat[0]) if divisors.size and divisors.min() == divisors.max() else divisors


def _extent(window: Window, side: int, size: int, include_padding: bool) -> np.ndarray:
    padding = window.padding[side]
    starts = np.arange(window.size[side]) * window.stride[side] - padding
    ends = np.minimum(starts + window.kernel[side], size + padding)
    if include_padding:
        return ends - starts
    return np.minimum(ends, size) - np.maximum(starts, 0)


def _divide(total: np.ndarray, divisor: np.ndarray | int) -> np.ndarray:
    if total.dtype.kind == "i":
        share = np.abs(total) // np.abs(divisor)
        return (np.sign(total) * np.sign(divisor) * share).astype(total.dtype)  # towards zero, as C divides
    if isinstance(divisor, np.ndarray):
        divisor = divisor.astype(total.dtype)
    elif type(divisor) is int:
        divisor = kept_constant(divisor, total.dtype)
    return np.divide(total, divisor, out=total)
