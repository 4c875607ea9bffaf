"""Pools: what is taken of each window, and of each part of a plane."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    INT32,
    INT64,
    Evaluator,
    expect,
    pair,
    require,
    same_dtype,
    store,
    wide,
)
from tests.npu_simulator.evaluate.indexing import positions
from tests.npu_simulator.evaluate.windows import Sizes, taps

EVALUATORS: dict[str, Evaluator] = {}

# -------------------- pools --------------------


def _pooled(n: int, k: int, s: int, p: int, d: int, ceil: bool) -> int:
    """With ceilMode rounded up, but no window begins beyond the input and the padding before it."""
    span = n + 2 * p - d * (k - 1) - 1
    count = (-(-span // s) if ceil else span // s) + 1
    return count - 1 if ceil and (count - 1) * s >= n + p else count


def _windows(x: np.ndarray, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, rank: int) -> Any:
    """Sizes of a pool in full: kernel, stride (that of the kernel if there is none), padding, dilation, counts."""
    require(x.ndim in (rank + 1, rank + 2), f"{x.ndim} dimensions")
    k, p, d = (pair(each, rank) for each in (kernel, padding, dilation))
    s = pair(stride, rank) if stride else k
    require(all(2 * own <= size for own, size in zip(p, k)), f"padding {p} for a window of {k}")
    counts = [_pooled(*each, ceil) for each in zip(x.shape[-rank:], k, s, p, d)]
    require(min(counts) > 0, f"an output of {counts}")
    return k, s, p, d, counts


def _max_pool(x: np.ndarray, sizes: Any) -> tuple[np.ndarray, np.ndarray]:
    """The maxima, and where each is in its flattened plane: the first one, or the last NaN (CANN is silent on it)."""
    k, s, p, d, counts = sizes
    rank = len(k)
    plane = np.arange(math.prod(x.shape[-rank:])).reshape(x.shape[-rank:])
    room = [(own, own + (n - 1) * t + e * (size - 1) + 1) for own, n, t, e, size in zip(p, counts, s, d, k)]
    grow = [(own, max(0, end - own - length)) for (own, end), length in zip(room, x.shape[-rank:])]
    values = np.pad(x, [(0, 0)] * (x.ndim - rank) + grow, constant_values=-np.inf)
    places = np.pad(plane, grow, constant_values=-1)
    best = np.full((*x.shape[:-rank], *counts), -np.inf)
    where = np.full(best.shape, -1)
    for _, under in taps(k, counts, s, d):
        candidate, own = values[(..., *under)], np.broadcast_to(places[under], best.shape)
        wins = (own >= 0) & ((where < 0) | (candidate > best) | np.isnan(candidate))
        best, where = np.where(wins, candidate, best), np.where(wins, own, where)
    return best, where


def _max_pool_with_indices(rank: int) -> Evaluator:
    def evaluate(
        self: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, out: Any, indices: Any
    ) -> None:
        x = wide(self)
        best, where = _max_pool(x, _windows(x, kernel, stride, padding, dilation, ceil, rank))
        store(out, best, dtype=self.dtype)
        require(indices is not None and indices.dtype in (INT32, INT64), "indices are int32 or int64")
        store(indices, where)

    return evaluate


def to_planes(values: np.ndarray, where: np.ndarray, shape: Sizes, rank: int) -> np.ndarray:
    """Adds each value to the place that belongs to it in its plane."""
    planes = np.zeros((math.prod(shape[:-rank]), math.prod(shape[-rank:])))
    rows = np.arange(len(planes))[:, None]
    where = positions(where, planes.shape[1])
    np.add.at(planes, (rows, where.reshape(len(planes), -1)), values.reshape(len(planes), -1))
    return planes.reshape(shape)


def _max_pool_backward(rank: int) -> Evaluator:
    def evaluate(
        grad: Any, self: Any, indices: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, out: Any
    ) -> None:
        sizes = _windows(self, kernel, stride, padding, dilation, ceil, rank)
        expect(grad, (*self.shape[:-rank], *sizes[4]))
        expect(indices, grad.shape)
        store(out, to_planes(wide(grad), wide(indices), self.shape, rank), dtype=same_dtype(grad, self))

    return evaluate


# "indices: the places of the maxima, in the meaning of a mask": here a bit for each place of each window.
def mask_shape(kernel: Sizes, plane: Sizes, lead: Sizes) -> tuple[int, ...]:
    """CANN: (N, C, kH kW, (ceil(outH outW / 16) + 1) 2 16) of int8, which is (ceil(..) + 1) 32 of them."""
    return (*lead, math.prod(kernel), (-(-math.prod(plane) // 16) + 1) * 32)


def _max_pool_with_mask(
    self: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, out: Any, mask: Any
) -> None:
    x = wide(self)
    sizes = _windows(x, kernel, stride, padding, dilation, ceil, 2)
    best, where = _max_pool(x, sizes)
    store(out, best, dtype=self.dtype)
    require(mask is not None and mask.dtype == np.int8, "the mask is not int8")
    shape = mask_shape(sizes[0], sizes[4], x.shape[:-2])
    # The first bytes of each row hold the place in the plane as int32; the layout is the device's own affair.
    content = np.zeros(shape, np.int8)
    require(mask.shape == shape, f"the mask has shape {mask.shape}, and the inputs imply {shape}")
    flat = content.reshape(*x.shape[:-2], -1)
    packed = where.reshape(*x.shape[:-2], -1).astype(np.int32).view(np.int8)
    require(packed.shape[-1] <= flat.shape[-1], "the mask has no room")
    flat[..., : packed.shape[-1]] = packed
    store(mask, content)


def _max_pool_with_mask_backward(
    grad: Any, self: Any, mask: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, out: Any
) -> None:
    sizes = _windows(self, kernel, stride, padding, dilation, ceil, 2)
    expect(mask, mask_shape(sizes[0], sizes[4], self.shape[:-2]), dtype=np.dtype("int8"))
    count = math.prod(sizes[4])
    packed = np.ascontiguousarray(mask).reshape(*self.shape[:-2], -1)[..., : 4 * count]
    where = np.ascontiguousarray(packed).view(np.int32)
    store(out, to_planes(wide(grad), where, self.shape, 2), dtype=same_dtype(grad, self))


def _divisors(size: Sizes, sizes: Any, count_pad: bool, override: int) -> np.ndarray:
    """How many elements each window has: with the padding, but not beyond it."""
    k, s, p, _, counts = sizes
    if override:
        return np.full(counts, float(override))
    result = np.ones(())
    for n, kernel, stride, pad, count in zip(size, k, s, p, counts):
        begin = np.arange(count) * stride - pad
        end = np.minimum(begin + kernel, n + pad)
        if not count_pad:
            begin, end = np.maximum(begin, 0), np.minimum(end, n)
        result = np.multiply.outer(result, (end - begin).astype(float))
    return result


def _grown(x: np.ndarray, sizes: Any) -> tuple[np.ndarray, list[tuple[int, int]]]:
    k, s, p, _, counts = sizes
    ends = [
        max(0, (n - 1) * t + size - own - length)
        for n, t, size, own, length in zip(counts, s, k, p, x.shape[-len(k) :])
    ]
    grow = list(zip(p, ends))
    return np.pad(x, [(0, 0)] * (x.ndim - len(k)) + grow), grow


def _avg_pool(
    self: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, count_pad: bool, override: int, out: Any, rank: int
) -> None:
    # "divisorOverride: 0 is none"
    x = wide(self)
    sizes = _windows(x, kernel, stride, padding, (1,), ceil, rank)
    full, _ = _grown(x, sizes)
    total = sum(full[(..., *under)] for _, under in taps(sizes[0], sizes[4], sizes[1], (1,) * rank))
    store(out, total / _divisors(x.shape[-rank:], sizes, count_pad, override), dtype=self.dtype)


def _avg_pool_backward(
    grad: Any,
    self: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil: bool,
    count_pad: bool,
    override: int,
    out: Any,
    rank: int,
) -> None:
    sizes = _windows(self, kernel, stride, padding, (1,), ceil, rank)
    expect(grad, (*self.shape[:-rank], *sizes[4]))
    share = wide(grad) / _divisors(self.shape[-rank:], sizes, count_pad, override)
    full, grow = _grown(np.zeros(self.shape), sizes)
    for _, under in taps(sizes[0], sizes[4], sizes[1], (1,) * rank):
        full[(..., *under)] += share
    inner = tuple(slice(a, a + n) for (a, _), n in zip(grow, self.shape[-rank:]))
    store(out, full[(..., *inner)], dtype=same_dtype(grad, self))


def _avg_pool2d(
    self: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, pad: bool, override: int, cube: int, out: Any
) -> None:
    _avg_pool(self, kernel, stride, padding, ceil, pad, override, out, 2)


def _avg_pool2d_backward(
    grad: Any,
    self: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil: bool,
    pad: bool,
    override: int,
    cube: int,
    out: Any,
) -> None:
    _avg_pool_backward(grad, self, kernel, stride, padding, ceil, pad, override, out, 2)


def _avg_pool3d(
    self: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, pad: bool, override: int, out: Any
) -> None:
    _avg_pool(self, kernel, stride, padding, ceil, pad, override, out, 3)


def _avg_pool3d_backward(
    grad: Any, self: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, pad: bool, override: int, out: Any
) -> None:
    _avg_pool_backward(grad, self, kernel, stride, padding, ceil, pad, override, out, 3)


# -------------------- pools to a size --------------------


def _bins(size: int, count: int) -> list[slice]:
    return [slice(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _each_bin(size: Sizes, counts: Sizes) -> Iterator[tuple[Any, Any]]:
    for place in itertools.product(*map(range, counts)):
        yield place, tuple(_bins(n, c)[i] for n, c, i in zip(size, counts, place))


def _adaptive_avg(rank: int) -> Evaluator:
    def evaluate(self: Any, size: Any, out: Any) -> None:
        x = wide(self)
        require(
            len(size) == rank and x.ndim in (rank + 1, rank + 2), f"a size of {tuple(size)} for {x.ndim} dimensions"
        )
        result = np.empty((*x.shape[:-rank], *size))
        for place, span in _each_bin(x.shape[-rank:], size):
            result[(..., *place)] = x[(..., *span)].mean(tuple(range(-rank, 0)))
        store(out, result, dtype=self.dtype)

    return evaluate


def _adaptive_avg_backward(rank: int) -> Evaluator:
    def evaluate(grad: Any, self: Any, out: Any) -> None:
        g, result = wide(grad), np.zeros(self.shape)
        for place, span in _each_bin(self.shape[-rank:], g.shape[-rank:]):
            count = math.prod(each.stop - each.start for each in span)
            result[(..., *span)] += (g[(..., *place)] / count).reshape(*g.shape[:-rank], *[1] * rank)
        store(out, result, dtype=same_dtype(grad, self))

    return evaluate


def _adaptive_max(rank: int) -> Evaluator:
    def evaluate(self: Any, size: Any, out: Any, indices: Any) -> None:
        x = wide(self)
        plane = np.arange(math.prod(x.shape[-rank:])).reshape(x.shape[-rank:])
        best, where = np.empty((*x.shape[:-rank], *size)), np.empty((*x.shape[:-rank], *size), np.int64)
        for place, span in _each_bin(x.shape[-rank:], size):
            under = x[(..., *span)].reshape(*x.shape[:-rank], -1)
            first = under.argmax(-1)
            best[(..., *place)] = np.take_along_axis(under, first[..., None], -1)[..., 0]
            where[(..., *place)] = plane[span].reshape(-1)[first]
        store(out, best, dtype=self.dtype)
        require(indices is not None and indices.dtype in (INT32, INT64), "indices are int32 or int64")
        store(indices, where)

    return evaluate


def _adaptive_max_backward(rank: int) -> Evaluator:
    def evaluate(grad: Any, self: Any, indices: Any, out: Any) -> None:
        store(out, to_planes(wide(grad), wide(indices), self.shape, rank), dtype=same_dtype(grad, self))

    return evaluate


def _max_unpool2d(self: Any, indices: Any, size: Any, out: Any) -> None:
    # out[n][c][indices[n][c][i]] = self[n][c][i], 0 elsewhere
    rank = len(size)
    shape = (*self.shape[:-rank], *size)
    planes = np.zeros((math.prod(shape[:-rank]), math.prod(size)))
    rows = np.arange(len(planes))[:, None]
    planes[rows, positions(indices, planes.shape[1]).reshape(len(planes), -1)] = wide(self).reshape(len(planes), -1)
    store(out, planes.reshape(shape), dtype=self.dtype)


def _max_unpool2d_backward(grad: Any, self: Any, indices: Any, size: Any, out: Any) -> None:
    planes = wide(grad).reshape(math.prod(self.shape[: -len(size)]), -1)
    found = np.take_along_axis(planes, positions(indices, planes.shape[1]).reshape(len(planes), -1), 1)
    store(out, found.reshape(self.shape), dtype=self.dtype)


def _max_unpool3d(self: Any, indices: Any, size: Any, stride: Any, padding: Any, out: Any) -> None:
    # "stride and padding take no part at present"
    require(len(size) == len(stride) == len(padding) == 3 and min(stride) > 0, "three numbers are needed for each size")
    _max_unpool2d(self, indices, size, out)


def _max_unpool3d_backward(grad: Any, self: Any, indices: Any, size: Any, stride: Any, padding: Any, out: Any) -> None:
    _max_unpool2d_backward(grad, self, indices, size, out)


EVALUATORS |= {
    "aclnnMaxUnpool3d": _max_unpool3d,
    "aclnnMaxUnpool3dBackward": _max_unpool3d_backward,
    "aclnnMaxPool2dWithIndices": _max_pool_with_indices(2),
    "aclnnMaxPool2dWithIndicesBackward": _max_pool_backward(2),
    "aclnnMaxPool3dWithArgmax": _max_pool_with_indices(3),
    "aclnnMaxPool3dWithArgmaxBackward": _max_pool_backward(3),
    "aclnnMaxPool2dWithMask": _max_pool_with_mask,
    "aclnnMaxPool2dWithMaskBackward": _max_pool_with_mask_backward,
    "aclnnAvgPool2d": _avg_pool2d,
    "aclnnAvgPool2dBackward": _avg_pool2d_backward,
    "aclnnAvgPool3d": _avg_pool3d,
    "aclnnAvgPool3dBackward": _avg_pool3d_backward,
    "aclnnAdaptiveAvgPool2d": _adaptive_avg(2),
    "aclnnAdaptiveAvgPool2dBackward": _adaptive_avg_backward(2),
    "aclnnAdaptiveAvgPool3d": _adaptive_avg(3),
    "aclnnAdaptiveAvgPool3dBackward": _adaptive_avg_backward(3),
    "aclnnAdaptiveMaxPool2d": _adaptive_max(2),
    "aclnnAdaptiveMaxPool2dBackward": _adaptive_max_backward(2),
    "aclnnAdaptiveMaxPool3d": _adaptive_max(3),
    "aclnnAdaptiveMaxPool3dBackward": _adaptive_max_backward(3),
    "aclnnMaxUnpool2d": _max_unpool2d,
    "aclnnMaxUnpool2dBackward": _max_unpool2d_backward,
}
