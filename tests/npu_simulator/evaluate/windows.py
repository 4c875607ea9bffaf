"""Convolutions and pools: what slides a window over the last dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
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

# -------------------- windows of one dimension --------------------


def _unfold_grad(grad: Any, sizes: Any, dim: int, size: int, step: int, out: Any) -> None:
    # "dim: only len(inputSizes) - 1 or - 2"; gradOut has the windows in that dimension, and their elements last
    rank = len(sizes)
    require(dim in (rank - 1, rank - 2), f"dimension {dim} of {rank}")
    require(0 < size <= sizes[dim] and step > 0, f"windows of {size} in steps of {step}")
    count = (sizes[dim] - size) // step + 1
    expect(grad, (*sizes[:dim], count, *sizes[dim + 1 :], size), dtype=out.dtype)
    result = np.zeros(sizes)
    lines, windows = np.moveaxis(result, dim, -1), np.moveaxis(wide(grad), dim, -2)
    for place in range(count):
        lines[..., place * step : place * step + size] += windows[..., place, :]
    store(out, result)


EVALUATORS["aclnnUnfoldGrad"] = _unfold_grad
