"""Convolutions and pools: what slides a window over the last dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    INT32,
    INT64,
    Evaluator,
    expect,
    pair,
    refuse,
    require,
    same_dtype,
    store,
    wide,
)

EVALUATORS: dict[str, Evaluator] = {}
Sizes = Sequence[int]


def taps(kernel: Sizes, counts: Sizes, stride: Sizes, dilation: Sizes) -> Iterator[tuple[Any, Any]]:
    """Each place of a window, with the slices of what lies under it in all windows."""
    for place in itertools.product(*map(range, kernel)):
        starts = [p * d for p, d in zip(place, dilation)]
        yield place, tuple(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(starts, counts, stride))


def padded(x: np.ndarray, padding: Sizes, value: float = 0) -> np.ndarray:
    """With as many elements more on both sides of the last dimensions."""
    return np.pad(x, [(0, 0)] * (x.ndim - len(padding)) + [(p, p) for p in padding], constant_values=value)


def cut(x: np.ndarray, padding: Sizes) -> np.ndarray:
    """Without them."""
    return x[(..., *(slice(p, n - p) for p, n in zip(padding, x.shape[-len(padding) :])))]


# -------------------- convolutions --------------------


def _counts(size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> tuple[int, ...]:
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)
    )


def _correlate(x: np.ndarray, w: np.ndarray, counts: Sizes, stride: Sizes, dilation: Sizes) -> np.ndarray:
    """x (N, C, ..) under w (O, C, ..): (N, O, counts)."""
    out = np.zeros((len(x), len(w), *counts))
    for place, under in taps(w.shape[2:], counts, stride, dilation):
        out += np.einsum("nc...,oc->no...", x[(..., *under)], w[(..., *place)])
    return out


def _spread(g: np.ndarray, w: np.ndarray, size: Sizes, stride: Sizes, dilation: Sizes) -> np.ndarray:
    """The adjoint: g (N, O, ..) over w (O, C, ..) into (N, C, size)."""
    x = np.zeros((len(g), w.shape[1], *size))
    for place, under in taps(w.shape[2:], g.shape[2:], stride, dilation):
        x[(..., *under)] += np.einsum("no...,oc->nc...", g, w[(..., *place)])
    return x


def _weight_gradient(x: np.ndarray, g: np.ndarray, kernel: Sizes, stride: Sizes, dilation: Sizes) -> np.ndarray:
    """What correlates to g: x (N, C, ..) and g (N, O, ..) give (O, C, kernel)."""
    w = np.zeros((g.shape[1], x.shape[1], *kernel))
    flat = g.reshape(*g.shape[:2], -1)
    for place, under in taps(kernel, g.shape[2:], stride, dilation):
        w[(..., *place)] = np.einsum("nos,ncs->oc", flat, x[(..., *under)].reshape(*x.shape[:2], -1))
    return w


def _check_convolution(input: Any, weight: Any, bias: Any, sizes: Sequence[Sizes], groups: int, cube: int) -> int:
    if input is None or weight is None:
        refuse("a tensor is null", 161001)
    rank = input.ndim - 2
    # "the array has as many numbers as the input has dimensions, less 2"
    require(rank in (1, 2, 3) and weight.ndim == input.ndim, f"{input.ndim} and {weight.ndim} dimensions")
    require(all(each is not None and len(each) == rank for each in sizes), f"{rank} numbers are needed for each size")
    require(groups > 0 and input.shape[1] % groups == 0, f"{groups} groups of {input.shape[1]} channels")
    require(cube in range(5), f"cubeMathType {cube}")
    require(bias is None or bias.ndim == 1, "the bias is no vector")
    return rank


def _by_groups(x: np.ndarray, groups: int, at: int) -> list[np.ndarray]:
    return np.split(x, groups, at)


def _convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, more: Any,
    groups: int, out: Any, cube: int,
) -> None:  # fmt: skip
    _check_convolution(input, weight, bias, (stride, padding, dilation), groups, cube)
    x, w, kernel = wide(input), wide(weight), weight.shape[2:]
    if transposed:
        result = _transposed(x, w, stride, padding, dilation, more, groups)
    else:
        require(weight.shape[1] * groups == input.shape[1], "channels of input and weight differ")
        counts = _counts(input.shape[2:], kernel, stride, padding, dilation)
        require(min(counts) > 0, f"an output of {counts}")
        parts = zip(_by_groups(padded(x, padding), groups, 1), _by_groups(w, groups, 0))
        result = np.concatenate([_correlate(a, b, counts, stride, dilation) for a, b in parts], 1)
    if bias is not None:
        require(bias.size == result.shape[1], f"{bias.size} biases for {result.shape[1]} channels")
        result = result + wide(bias).reshape(-1, *[1] * len(kernel))
    store(out, result, dtype=same_dtype(input, weight))


def _transposed(
    x: np.ndarray, w: np.ndarray, stride: Sizes, padding: Sizes, dilation: Sizes, more: Sizes, groups: int
) -> np.ndarray:
    require(w.shape[0] == x.shape[1], "channels of input and weight differ")
    require(more is not None and len(more) == len(stride), "outputPadding is missing")
    spans = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(x.shape[2:], stride, dilation, w.shape[2:])]
    full = [max(span + m, span) for span, m in zip(spans, more)]
    parts = zip(_by_groups(x, groups, 1), _by_groups(w, groups, 0))
    return cut(np.concatenate([_spread(a, b, full, stride, dilation) for a, b in parts], 1), padding)


def _convolution_backward(
    grad: Any, input: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    more: Any, groups: int, mask: Any, cube: int, grad_input: Any, grad_weight: Any, grad_bias: Any,
) -> None:  # fmt: skip
    _check_convolution(input, weight, None, (stride, padding, dilation), groups, cube)
    require(mask is not None and len(mask) == 3, "outputMask has 3 values")
    dtype = same_dtype(grad, input, weight)
    g, x, w = (_by_groups(wide(each), groups, at) for each, at in ((grad, 1), (input, 1), (weight, 0)))
    function = _transposed_gradients if transposed else _gradients
    found = [function(*each, stride, padding, dilation) for each in zip(g, x, w)]
    if mask[0]:
        store(grad_input, np.concatenate([each[0] for each in found], 1), dtype=dtype)
    if mask[1]:
        store(grad_weight, np.concatenate([each[1] for each in found], 0))
    if mask[2]:
        expect(grad_bias, bias_sizes or ())
        store(grad_bias, wide(grad).sum((0, *range(2, grad.ndim))))


def _gradients(
    g: np.ndarray, x: np.ndarray, w: np.ndarray, stride: Sizes, padding: Sizes, dilation: Sizes
) -> tuple[np.ndarray, np.ndarray]:
    full = padded(x, padding)
    own = _spread(g, w, full.shape[2:], stride, dilation)
    return cut(own, padding), _weight_gradient(full, g, w.shape[2:], stride, dilation)


def _transposed_gradients(
    g: np.ndarray, x: np.ndarray, w: np.ndarray, stride: Sizes, padding: Sizes, dilation: Sizes
) -> tuple[np.ndarray, np.ndarray]:
    """Input and gradient change places: the forward pass was the adjoint of a correlation."""
    full = padded(g, padding)
    own = _correlate(full, w, x.shape[2:], stride, dilation)
    return own, _weight_gradient(full, x, w.shape[2:], stride, dilation)


EVALUATORS |= {"aclnnConvolution": _convolution, "aclnnConvolutionBackward": _convolution_backward}

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
    """The maxima, and where each is in its flattened plane: the first one, NaN before all."""
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
        wins = (own >= 0) & ((where < 0) | (candidate > best) | (np.isnan(candidate) & ~np.isnan(best)))
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
    mask[...] = content


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
    shape = (*self.shape[:-2], *size)
    planes = np.zeros((math.prod(shape[:-2]), math.prod(shape[-2:])))
    rows = np.arange(len(planes))[:, None]
    planes[rows, wide(indices).reshape(len(planes), -1)] = wide(self).reshape(len(planes), -1)
    store(out, planes.reshape(shape), dtype=self.dtype)


def _max_unpool2d_backward(grad: Any, self: Any, indices: Any, size: Any, out: Any) -> None:
    planes = wide(grad).reshape(math.prod(self.shape[:-2]), -1)
    found = np.take_along_axis(planes, wide(indices).reshape(len(planes), -1), 1)
    store(out, found.reshape(self.shape), dtype=self.dtype)


EVALUATORS |= {
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

# -------------------- columns --------------------


def _im2col(self: Any, kernel: Any, dilation: Any, padding: Any, stride: Any, out: Any) -> None:
    k, d, p, s = (pair(each) for each in (kernel, dilation, padding, stride))
    x = padded(wide(self), p)
    counts = _counts(self.shape[-2:], k, s, p, d)
    columns = [x[(..., *under)].reshape(*x.shape[:-2], -1) for _, under in taps(k, counts, s, d)]
    found = np.stack(columns, -2)
    store(out, found.reshape(*x.shape[:-3], -1, found.shape[-1]), dtype=self.dtype)


def _col2im(grad: Any, size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any, out: Any) -> None:
    k, d, p, s = (pair(each) for each in (kernel, dilation, padding, stride))
    counts = _counts(size, k, s, p, d)
    g = wide(grad).reshape(*grad.shape[:-2], -1, math.prod(k), *counts)
    full = np.zeros((*g.shape[:-3], *(n + 2 * own for n, own in zip(size, p))))
    for number, (_, under) in enumerate(taps(k, counts, s, d)):
        full[(..., *under)] += g[..., number, :, :]
    store(out, cut(full, p), dtype=grad.dtype)


EVALUATORS |= {"aclnnIm2col": _im2col, "aclnnIm2colBackward": _col2im}
