"""Pooling over the last dimensions, two or three, one pass over the input for each position in the window."""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from mindtorch._core.strided import strided
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
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    padded = _pad(x, window, lowest)
    best, position = _first_largest(padded, window)
    if _needs_care(best) if x.dtype.kind == "f" else any(window.padding):
        position = _careful_position(padded, best, window, x.shape)
    offsets, starts = _index_of_position(window, x.shape[-window.dims :])
    return best, offsets.take(position) + starts


def _first_largest(padded: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Each window's maximum and the number of its position, by arithmetic, which is faster than masked copies."""
    if padded.size <= _FEW and padded.flags.c_contiguous:
        return _largest_of_few(padded, window)
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


def _largest_of_few(padded: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The same by one look at a copy of all windows."""
    windows = _windows_on(padded, window)
    elements = windows.reshape(*windows.shape[: -window.dims], prod(window.kernel))
    return np.maximum.reduce(elements, -1), elements.argmax(-1)


def _windows_on(padded: np.ndarray, window: Window) -> np.ndarray:
    """All windows, as a view."""
    return strided(padded, *_seen_as_windows(window, padded.shape, padded.strides))


@lru_cache(maxsize=256)
def _seen_as_windows(window: Window, shape: Dims, strides: Dims) -> tuple[Dims, Dims]:
    """The shape and the strides of a view with a dimension more for each that a window has."""
    inner = strides[-window.dims :]
    jumps = [step * stride for step, stride in zip(window.stride, inner)]
    spread = [step * stride for step, stride in zip(window.dilation, inner)]
    outer = len(shape) - window.dims
    return (*shape[:outer], *window.size, *window.kernel), (*strides[:outer], *jumps, *spread)


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
    if padded.size <= _FEW and padded.flags.c_contiguous and padded.size and prod(window.size):
        return _divide(_sum_of_few(padded, window), divisor)
    total = np.zeros((*x.shape[: -window.dims], *window.size), x.dtype)
    for places in window.places():
        total += padded[places]
    return _divide(total, divisor)


def _sum_of_few(padded: np.ndarray, window: Window) -> np.ndarray:
    """The sums in the same order, position by position, from a copy of all windows."""
    windows = _windows_on(padded, window)
    outer = windows.ndim - window.dims
    by_position = windows.transpose(*range(outer, windows.ndim), *range(outer))
    elements = by_position.reshape(prod(window.kernel), *windows.shape[:outer])
    return np.add.reduce(elements, 0, None, None, False, 0)


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
