"""Two-dimensional pooling over the last two dimensions, one pass over the input for each position in the window."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from mindtorch.backends.cpu import checks


class Window(NamedTuple):
    """Where the windows lie: (height, width) pairs, and the size of the grid of windows."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    size: tuple[int, int]

    def padded_size(self, size: tuple[int, int]) -> tuple[int, ...]:
        """How large the input must be for every window to fit, with the padding on its low side."""
        sides = zip(size, self.kernel, self.stride, self.padding, self.dilation, self.size)
        return tuple(max(n + 2 * p, (o - 1) * s + d * (k - 1) + 1) for n, k, s, p, d, o in sides)

    @lru_cache(maxsize=256)  # noqa: B019  (a window is a small tuple)
    def places(self) -> tuple[tuple, ...]:
        """For each position in the window the index of the elements under it, for all windows at once."""
        return tuple((..., *sides) for sides in product(self._places_along(0), self._places_along(1)))

    def _places_along(self, side: int) -> list[slice]:
        step, length = self.stride[side], self.stride[side] * (self.size[side] - 1) + 1
        starts = (self.dilation[side] * position for position in range(self.kernel[side]))
        return [slice(start, start + length, step) for start in starts]

    def overlaps(self) -> bool:
        return any(d * (k - 1) + 1 > s for k, s, d in zip(self.kernel, self.stride, self.dilation))


def _pair(values: list[int], name: str, op: str) -> tuple[int, int]:
    if len(values) not in (1, 2):
        raise RuntimeError(f"{op}: {name} a single int, or a tuple of two ints")
    return (values[0], values[-1])


def window_of(
    x: np.ndarray, op: str, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil: bool
) -> Window:
    """The windows that cover x, after torch's checks."""
    return _window(x.shape, op, tuple(kernel), tuple(stride), tuple(padding), tuple(dilation), ceil)


@lru_cache(maxsize=256)
def _window(
    shape: tuple[int, ...], op: str, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil: bool
) -> Window:
    sides = _pair(kernel, "kernel_size must either be", op)
    steps = _pair(stride, "stride must either be omitted,", op) if stride else sides
    pads = _pair(padding, "padding must either be", op)
    spread = _pair(dilation, "dilation must be either", op)
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, " f"but got:{list(shape)}"
        )
    _check_window(sides, steps, pads, spread)
    size = tuple(_count(*side, ceil) for side in zip(shape[-2:], sides, steps, pads, spread))
    if min(size) < 1:
        given, wanted = shape[-3:], (shape[-3], *size)
        raise RuntimeError(
            f"Given input size: ({checks.times(given, 'x')}). Calculated output size: ({checks.times(wanted, 'x')}). "
            "Output size is too small"
        )
    return Window(sides, steps, pads, spread, size)


def _check_window(kernel: tuple, stride: tuple, padding: tuple, dilation: tuple) -> None:
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    if min(kernel) <= 0:
        raise RuntimeError(f"kernel size should be greater than zero, but got kH: {kernel[0]} kW: {kernel[1]}")
    for k, p, d in zip(kernel, padding, dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, "
                f"but got pad={p}, kernel_size={k} and dilation={d}"
            )
    if min(dilation) <= 0:
        raise RuntimeError(
            f"dilation should be greater than zero, but got dilationH: {dilation[0]} dilationW: {dilation[1]}"
        )


def _count(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    free = size + 2 * padding - dilation * (kernel - 1) - 1
    count = -(-free // stride) + 1 if ceil else free // stride + 1
    if ceil and (count - 1) * stride >= size + padding:
        count -= 1  # the last window would start in the padding
    return count


def _pad(x: np.ndarray, window: Window, value: float) -> np.ndarray:
    size = window.padded_size(x.shape[-2:])
    if size == x.shape[-2:]:
        return x
    padded = np.full((*x.shape[:-2], *size), value, x.dtype)
    _unpad(padded, window, x.shape)[...] = x
    return padded


def _unpad(padded: np.ndarray, window: Window, shape: tuple[int, ...]) -> np.ndarray:
    top, left = window.padding
    return padded[..., top : top + shape[-2], left : left + shape[-1]]


# -------------------- maximum --------------------


def maximum(x: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each window, and its index in the flattened plane: the first of several, or a NaN."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    padded = _pad(x, window, lowest)
    best, position = _first_largest(padded, window)
    if x.dtype.kind == "f" and _needs_care(best):
        position = _careful_position(padded, best, window, x.shape)
    rows, columns = _index_of_position(window, x.shape[-1])
    return best, rows[position] + columns


def _first_largest(padded: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Each window's maximum and the number of its position, by arithmetic, which is faster than masked copies."""
    counts = np.int8 if window.kernel[0] * window.kernel[1] < 128 else np.int32
    first, *others = window.places()
    best = padded[first].copy()
    position = np.zeros(best.shape, counts)
    for number, places in enumerate(others, 1):
        candidate = padded[places]
        better = (candidate > best).astype(counts)
        np.maximum(best, candidate, out=best)
        np.maximum(position, np.multiply(better, number, out=better), out=position)
    return best, position


def _needs_care(best: np.ndarray) -> bool:
    """NaN compares false, and a window that holds only -inf must not choose an element of the padding."""
    return best.size > 0 and not np.minimum.reduce(best, axis=None) > -np.inf


def _careful_position(padded: np.ndarray, best: np.ndarray, window: Window, shape: tuple[int, ...]) -> np.ndarray:
    inside = np.zeros(padded.shape[-2:], bool)
    _unpad(inside, window, shape)[...] = True
    position = np.full(best.shape, -1)
    for number, places in enumerate(window.places()):
        candidate = padded[places]
        first = (candidate == best) & (position < 0) & inside[places]
        position[first | np.isnan(candidate)] = number
    return position


@lru_cache(maxsize=256)
def _index_of_position(window: Window, width: int) -> tuple[np.ndarray, np.ndarray]:
    """By position, its offset within the window; by window, the index of its first element, negative in padding."""
    row, column = window.dilation[0] * width, window.dilation[1]
    offsets = [i * row + j * column for i, j in product(range(window.kernel[0]), range(window.kernel[1]))]
    tops = np.arange(window.size[0]) * window.stride[0] - window.padding[0]
    lefts = np.arange(window.size[1]) * window.stride[1] - window.padding[1]
    return np.array(offsets), tops[:, None] * width + lefts


def scatter_to(grad: np.ndarray, indices: np.ndarray, shape: tuple[int, ...], overlapping: bool) -> np.ndarray:
    """A zero array of `shape` with each element of grad added at its index in its plane."""
    plane = shape[-1] * shape[-2]
    planes = prod(shape[:-2])
    flat = indices.reshape(planes, indices.shape[-2] * indices.shape[-1]) + plane * np.arange(planes)[:, None]
    if overlapping:
        summed = np.bincount(flat.ravel(), grad.ravel(), planes * plane)
        return summed.astype(grad.dtype).reshape(shape)
    result = np.zeros(shape, grad.dtype)
    result.reshape(-1)[flat.ravel()] = grad.ravel()
    return result


# -------------------- average --------------------


def average(x: np.ndarray, window: Window, divisor: np.ndarray | int) -> np.ndarray:
    padded = _pad(x, window, 0)
    total = np.zeros((*x.shape[:-2], *window.size), x.dtype)
    for places in window.places():
        total += padded[places]
    return _divide(total, divisor)


def spread(grad: np.ndarray, shape: tuple[int, ...], window: Window, divisor: np.ndarray | int) -> np.ndarray:
    """The gradient of `average` for an input of `shape`."""
    padded = np.zeros((*shape[:-2], *window.padded_size(shape[-2:])), grad.dtype)
    share = _divide(grad.copy(), divisor)
    for places in window.places():
        padded[places] += share
    return np.ascontiguousarray(_unpad(padded, window, shape))


def divisor_of(window: Window, size: tuple[int, int], include_padding: bool, override: int | None) -> np.ndarray | int:
    """What each window's sum is divided by: a number, or an array over the grid of windows."""
    if override is not None:
        return override
    rows, columns = (_extent(window, side, size[side], include_padding) for side in (0, 1))
    return rows[:, None] * columns


def _extent(window: Window, side: int, size: int, include_padding: bool) -> np.ndarray:
    padding = window.padding[side]
    starts = np.arange(window.size[side]) * window.stride[side] - padding
    ends = np.minimum(starts + window.kernel[side], size + padding)
    if include_padding:
        return ends - starts
    return np.minimum(ends, size) - np.maximum(starts, 0)


def _divide(total: np.ndarray, divisor: np.ndarray | int) -> np.ndarray:
    if total.dtype.kind == "i":
        return (np.sign(total) * (np.abs(total) // divisor)).astype(total.dtype)  # towards zero, as C divides
    if isinstance(divisor, np.ndarray):
        divisor = divisor.astype(total.dtype)
    return np.divide(total, divisor, out=total)


# -------------------- adaptive average --------------------


def adaptive_average(x: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The mean over `size` nearly equal, possibly overlapping cells."""
    rows = _mean_rows(x, size[0])
    return _mean_rows(np.ascontiguousarray(rows.swapaxes(-1, -2)), size[1]).swapaxes(-1, -2)


def _mean_rows(x: np.ndarray, count: int) -> np.ndarray:
    """Means of neighbouring rows. NumPy adds whole rows quickly; along them it would start over for every cell."""
    means = np.empty((*x.shape[:-2], count, x.shape[-1]), x.dtype)
    for number, (start, end) in enumerate(_cells(x.shape[-2], count)):
        target = np.add.reduce(x[..., start:end, :], axis=-2, out=means[..., number, :])
        target /= end - start
    return means


def adaptive_spread(grad: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of `adaptive_average` for an input of `shape`."""
    columns = _spread_rows(np.ascontiguousarray(grad.swapaxes(-1, -2)), shape[-1])
    return _spread_rows(np.ascontiguousarray(columns.swapaxes(-1, -2)), shape[-2])


def _spread_rows(grad: np.ndarray, size: int) -> np.ndarray:
    result = np.zeros((*grad.shape[:-2], size, grad.shape[-1]), grad.dtype)
    for number, (start, end) in enumerate(_cells(size, grad.shape[-2])):
        result[..., start:end, :] += grad[..., number : number + 1, :] / np.asarray(end - start, grad.dtype)
    return result


def _cells(size: int, count: int) -> list[tuple[int, int]]:
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
