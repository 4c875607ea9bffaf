"""Adaptive pooling: over a given number of nearly equal, possibly overlapping cells of the last dimensions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod

import numpy as np

from mindtorch._support.numpy_functions import is_any, moveaxis, row_starts
from mindtorch.backends.cpu.common.summing import add_up

Dims = tuple[int, ...]

_MANY = 64  # rows, of which the sum one by one has an error that counts


@lru_cache(maxsize=256)
def _cells(size: int, count: int) -> list[tuple[int, int]]:
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


# -------------------- average --------------------


def adaptive_average(x: np.ndarray, size: Dims) -> np.ndarray:
    """The mean of each cell; `size` counts the cells of every dimension."""
    return _dim_by_dim(_mean_rows, x, size)


def adaptive_spread(grad: np.ndarray, size: Dims) -> np.ndarray:
    """The gradient of `adaptive_average` for an input whose last dimensions have these sizes."""
    return _dim_by_dim(_spread_rows, grad, size)


def _dim_by_dim(apply: Callable[[np.ndarray, int], np.ndarray], x: np.ndarray, size: Dims) -> np.ndarray:
    x = apply(x, size[-2])
    x = apply(np.ascontiguousarray(x.swapaxes(-1, -2)), size[-1]).swapaxes(-1, -2)
    if len(size) == 2:
        return x
    return moveaxis(apply(np.ascontiguousarray(moveaxis(x, -3, -2)), size[0]), -2, -3)


def _mean_rows(x: np.ndarray, count: int) -> np.ndarray:
    """Means of neighbouring rows. NumPy adds whole rows quickly; along them it would start over for every cell."""
    means = np.empty((*x.shape[:-2], count, x.shape[-1]), x.dtype)
    for number, (start, end) in enumerate(_cells(x.shape[-2], count)):
        mean = means[..., number, :]
        if end - start > _MANY:
            mean[...] = add_up(x[..., start:end, :], (x.ndim - 2,))
        else:
            np.add.reduce(x[..., start:end, :], axis=-2, out=mean)
        mean /= end - start
    return means


def _spread_rows(grad: np.ndarray, size: int) -> np.ndarray:
    result = np.zeros((*grad.shape[:-2], size, grad.shape[-1]), grad.dtype)
    for number, (start, end) in enumerate(_cells(size, grad.shape[-2])):
        result[..., start:end, :] += grad[..., number : number + 1, :] / np.asarray(end - start, grad.dtype)
    return result


# -------------------- maximum --------------------


def adaptive_maximum(x: np.ndarray, size: Dims) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each cell, and its index in the flattened last dimensions: the first, or the last NaN."""
    dims = len(size)
    outer, inner = x.shape[:-dims], x.shape[-dims:]
    members = (_few_members if prod(inner) <= _FEW else _members)(inner, size)
    gathered = x.reshape(*outer, prod(inner)).take(members, -1)
    best = gathered.argmax(-1)
    longest = gathered.shape[-1]
    values = gathered.reshape(-1).take(row_starts(best.size, longest).reshape(best.shape) + best)
    if is_any(is_wrong := np.isnan(values)):
        last = longest - 1 - np.isnan(gathered[..., ::-1]).argmax(-1)
        best = np.where(is_wrong, last, best)
    indices = members.reshape(-1).take(row_starts(prod(size), longest).reshape(size) + best)
    return values, indices


_FEW = 1 << 10  # elements of an image whose cells are remembered


def _members(inner: Dims, size: Dims) -> np.ndarray:
    """The flat indices of the elements of each cell; short cells repeat their last element."""
    dims = len(size)
    flat = np.zeros((1,) * (2 * dims), np.int64)
    for dim, (length, count) in enumerate(zip(inner, size)):
        cells = _cells(length, count)
        longest = max((end - start for start, end in cells), default=1)
        rows = np.array([[min(start + k, end - 1) for k in range(longest)] for start, end in cells], np.int64)
        shape = [1] * (2 * dims)
        shape[dim], shape[dims + dim] = count, longest
        flat = flat * length + rows.reshape(shape)
    flat = flat.reshape(*size, prod(flat.shape[dims:]))
    flat.flags.writeable = False  # it may be handed out again
    return flat


_few_members = lru_cache(maxsize=128)(_members)
