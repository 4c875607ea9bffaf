"""Convolution in any number of spatial dimensions, as matrix products over patches of the input.

Three products cover everything: `correlate` (input and weight to output), `scatter` (its transpose: output and weight
to input) and `correlate_weight` (input and output to weight). A transposed convolution is `scatter`, and its gradients
are the other two. Patches are a strided window over the padded input, copied for some images at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from mindtorch._core import aligned
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.summing import add_up

_PATCH_BYTES = 1 << 22


class Geometry(NamedTuple):
    """What a convolution does to each spatial dimension, and into how many groups its channels fall."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]
    groups: int

    @lru_cache(maxsize=256)  # noqa: B019  (a geometry is a small tuple)
    def output_size(self, size: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[int, ...]:
        sides = zip(size, kernel, self.stride, self.padding, self.dilation)
        return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sides)

    def transposed_size(self, size: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[int, ...]:
        sides = zip(size, kernel, self.stride, self.padding, self.dilation, self.output_padding)
        return tuple((n - 1) * s - 2 * p + d * (k - 1) + extra + 1 for n, k, s, p, d, extra in sides)


def correlate(x: np.ndarray, weight: np.ndarray, size: tuple[int, ...], geometry: Geometry) -> np.ndarray:
    """The output, of spatial size `size`, of weight moving over x."""
    patches = windows(pad(x, geometry), weight.shape[2:], size, geometry)
    groups, channels = geometry.groups, weight.shape[0]
    depth, places = prod(weight.shape[1:]), prod(size)
    kernels = weight.reshape(groups, channels // groups, depth)
    out = aligned.empty((x.shape[0], groups, channels // groups, places), x.dtype)
    for images, columns in _columns(patches, groups, depth, places):
        np.matmul(kernels, columns, out=out[images])
    return out.reshape(x.shape[0], channels, *size)


def scatter(y: np.ndarray, weight: np.ndarray, size: tuple[int, ...], geometry: Geometry) -> np.ndarray:
    """The transpose of `correlate`: every element of y adds a kernel to the result, which is of spatial size `size`."""
    groups, kernel = geometry.groups, weight.shape[2:]
    mirrored = _mirrored(weight, geometry)
    if mirrored is not None and mirrored.output_size(y.shape[2:], kernel) == size:
        return correlate(y, _mirrored_weight(weight, groups), size, mirrored)
    channels, places = weight.shape[1] * groups, prod(y.shape[2:])
    padded_size = tuple(n + 2 * p for n, p in zip(size, geometry.padding))
    result = aligned.zeros((y.shape[0], channels, *padded_size), y.dtype)
    depth = prod(weight.shape[1:])
    kernels = weight.reshape(groups, weight.shape[0] // groups, depth).transpose(0, 2, 1)
    rows = y.reshape(y.shape[0], groups, y.shape[1] // groups, places)
    chunks = _chunks(y.shape[0], groups * depth * places * y.itemsize)
    for start in chunks:
        target = result[start : start + chunks.step]
        columns = _product(kernels, rows[start : start + chunks.step])
        fold(columns.reshape(len(target), channels, *kernel, *y.shape[2:]), target, kernel, geometry)
    return crop(result, size, geometry)


def correlate_weight(x: np.ndarray, y: np.ndarray, kernel: tuple[int, ...], geometry: Geometry) -> np.ndarray:
    """The gradient for the weight of `correlate`, from its input x and the gradient y of its output."""
    groups, size = geometry.groups, y.shape[2:]
    depth, places = x.shape[1] // groups * prod(kernel), prod(size)
    patches = windows(pad(x, geometry), kernel, size, geometry)
    rows = y.reshape(y.shape[0], groups, y.shape[1] // groups, places)
    result = aligned.zeros((groups, y.shape[1] // groups, depth), x.dtype)
    for images, columns in _columns(patches, groups, depth, places):
        result += add_up(np.matmul(rows[images], columns.swapaxes(2, 3)), (0,))
    return result.reshape(y.shape[1], x.shape[1] // groups, *kernel)


def _mirrored(weight: np.ndarray, geometry: Geometry) -> Geometry | None:
    """The geometry with which `correlate`, with the kernel turned round, does what `scatter` does, if there is one.

    Gathering patches is faster than adding them up, unless there are more channels to gather from.
    """
    padding = tuple(d * (k - 1) - p for d, k, p in zip(geometry.dilation, weight.shape[2:], geometry.padding))
    if max(geometry.stride) > 1 or min(padding) < 0 or weight.shape[0] > weight.shape[1] * geometry.groups:
        return None
    return geometry._replace(padding=padding)


def _mirrored_weight(weight: np.ndarray, groups: int) -> np.ndarray:
    rows, columns, *kernel = weight.shape
    by_group = weight.reshape(groups, rows // groups, columns, *kernel).swapaxes(1, 2)
    turned = np.flip(by_group, tuple(range(3, by_group.ndim)))
    return turned.reshape(groups * columns, rows // groups, *kernel)


def _product(kernels: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Their matrix product. With one row only that is an outer product, which matmul is slow at."""
    return kernels * rows if rows.shape[-2] == 1 else np.matmul(kernels, rows)


def add_bias(out: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    if bias is not None:
        quiet(np.add, out, bias.reshape(-1, *(1,) * (out.ndim - 2)), out=out)
    return out


def windows(padded: np.ndarray, kernel: tuple[int, ...], size: tuple[int, ...], geometry: Geometry) -> np.ndarray:
    """Every patch that the kernel covers, without a copy: (images, channels, *kernel, *size)."""
    inner = padded.strides[2:]
    steps = tuple(d * s for d, s in zip(geometry.dilation, inner))
    jumps = tuple(j * s for j, s in zip(geometry.stride, inner))
    shape = (*padded.shape[:2], *kernel, *size)
    return np.ndarray(shape, padded.dtype, padded, 0, (*padded.strides[:2], *steps, *jumps))


def _columns(patches: np.ndarray, groups: int, depth: int, places: int) -> Iterator[tuple[slice, np.ndarray]]:
    """The patches as matrices, for some images at a time; the memory is the same every time, to stay in cache."""
    if places * depth and patches.strides[-1] == patches.itemsize and depth == patches.shape[1] // groups:
        yield slice(None), patches.reshape(len(patches), groups, depth, places)  # kernels of size one: no copy
        return
    chunks = _chunks(len(patches), groups * depth * places * patches.itemsize)
    scratch = np.empty((min(len(patches), chunks.step), *patches.shape[1:]), patches.dtype)
    for start in chunks:
        part = patches[start : start + chunks.step]
        np.copyto(scratch[: len(part)], part)
        yield slice(start, start + len(part)), scratch[: len(part)].reshape(len(part), groups, depth, places)


def pad(x: np.ndarray, geometry: Geometry) -> np.ndarray:
    if not any(geometry.padding):
        return np.ascontiguousarray(x)
    size = tuple(n + 2 * p for n, p in zip(x.shape[2:], geometry.padding))
    padded = aligned.zeros((*x.shape[:2], *size), x.dtype)
    crop(padded, x.shape[2:], geometry)[...] = x
    return padded


def crop(padded: np.ndarray, size: tuple[int, ...], geometry: Geometry) -> np.ndarray:
    if not any(geometry.padding):
        return padded
    return padded[(..., *(slice(p, p + n) for p, n in zip(geometry.padding, size)))]


def fold(columns: np.ndarray, result: np.ndarray, kernel: tuple[int, ...], geometry: Geometry) -> None:
    """Add each patch of columns (images, channels, *kernel, *size) to its place in result."""
    size = columns.shape[2 + len(kernel) :]
    if 0 in size:
        return
    for position in product(*map(range, kernel)):
        result[(..., *_covered(position, size, geometry))] += columns[(slice(None), slice(None), *position)]


def _covered(position: tuple[int, ...], size: tuple[int, ...], geometry: Geometry) -> tuple[slice, ...]:
    """Where in the padded input one position in the kernel lies, for all places of the output."""
    starts = (d * k for d, k in zip(geometry.dilation, position))
    return tuple(
        slice(start, start + stride * (n - 1) + 1, stride) for start, stride, n in zip(starts, geometry.stride, size)
    )


def _chunks(images: int, bytes_per_image: int) -> range:
    """The first image of each part that is worked on at once."""
    return range(0, images, max(1, _PATCH_BYTES // max(1, bytes_per_image)))
