"""Kernels of fractional max pooling: windows whose distances are random, and a number of them that is given."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from mindtorch._core.geometry import check_sizes, wrap_dim
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import row_starts, smallest
from mindtorch.backends.cpu.common.casting import deliver
from mindtorch.backends.cpu.common.checks import (
    expect_dtype,
    expect_float,
    expect_index_dtype,
    expect_sizes,
    not_implemented,
)
from mindtorch.backends.cpu.common.precision import widen

Array = np.ndarray
Ints = Sequence[int]

# By number of dimensions: how the op calls itself, and what it calls them.
_NAMES = {
    2: ("fractional_max_pool2d", ("height", "width")),
    3: ("fractional_max_pool3d_out", ("time", "height", "width")),
}


def fractional_max_pool2d(input, kernel_size, output_size, random_samples, out=None):
    return _pool(2, input, kernel_size, output_size, random_samples, out)


def fractional_max_pool3d(input, kernel_size, output_size, random_samples, out=None):
    return _pool(3, input, kernel_size, output_size, random_samples, out)


def _pool(
    dims: int, input: Array, kernel_size: Ints, output_size: Ints, samples: Array, out: Any
) -> tuple[Array, Array]:
    for name, sizes in (("kernel_size", kernel_size), ("output_size", output_size)):
        if len(sizes) != dims:
            many = "Ints" if dims == 2 else "three Ints"
            raise RuntimeError(f"fractional_max_pool{dims}d: {name} must either be a single Int or tuple of {many}")
    _check_input(input, kernel_size, output_size)
    check_sizes((*input.shape[:-dims], *output_size))
    _check_samples(input, samples, dims)
    if input.dtype.kind in "biuc":
        raise not_implemented(f"fractional_max_pool{dims}d_out_frame", input)
    planes = input if input.ndim == dims + 2 else input[None]
    starts = quiet(_starts, planes, kernel_size, output_size, samples)
    shape = (*input.shape[:-dims], *output_size)
    results = [each.reshape(shape) for each in quiet(_largest, planes, kernel_size, starts)]
    return tuple([deliver(result, each) for result, each in zip(results, out or (None, None), strict=True)])


def _starts(planes: Array, kernel_size: Ints, output_size: Ints, samples: Array) -> list[Array]:
    """Where the windows of each plane begin, by dimension. torch counts the samples from the last one on in images."""
    dims = len(kernel_size)
    starts = []
    for place, (kernel, count) in enumerate(zip(kernel_size, output_size)):
        size = planes.shape[place - dims]
        sample = samples[: len(planes), :, place if dims == 3 else dims - 1 - place, None]
        found = np.full((*planes.shape[:2], count), size - kernel, np.int64)
        if count > 1:
            kind = planes.dtype.type
            step = kind(size - kernel) / kind(count - 1)
            numbers = np.arange(count - 1).astype(planes.dtype)
            found[..., :-1] = ((numbers + sample) * step).astype(np.int64) - (sample * step).astype(np.int64)
        starts.append(found)
    return starts


def _largest(planes: Array, kernel_size: Ints, starts: list[Array]) -> tuple[Array, Array]:
    """The largest element of each window, or the last one that is not a number, and its place in the plane."""
    sizes = planes.shape[2:]
    corners: Any = 0
    for place, (size, each) in enumerate(zip(sizes, starts)):
        corners = corners * size + _along(each, place, len(sizes))
    planes_before = np.arange(prod(planes.shape[:2])).reshape(*planes.shape[:2], *(1,) * len(sizes))
    in_memory, elements = planes_before * prod(sizes) + corners, planes.reshape(-1)
    if in_memory.size * prod(kernel_size) <= _FEW:
        moves = _moves(tuple(kernel_size), sizes)
        windows = elements.take(in_memory[..., None] + moves)
        best = windows.argmax(-1)
        largest = windows.reshape(-1).take(best + row_starts(best.size, moves.size).reshape(best.shape))
        if smallest(largest) == smallest(largest):  # there is no NaN
            return largest, corners + moves.take(best)
    moves = np.zeros_like(corners)
    largest = elements.take(in_memory)
    for offset in list(product(*[range(kernel) for kernel in kernel_size]))[1:]:
        move = np.ravel_multi_index(offset, sizes)
        values = elements.take(in_memory + move)
        better = (values > largest) | np.isnan(values)
        np.copyto(largest, values, where=better)
        np.copyto(moves, move, where=better)
    return largest, corners + moves


_FEW = 1 << 11  # elements of all windows


@lru_cache(maxsize=128)
def _moves(kernel_size: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """By position in a window, how many places of a plane it is away from the first one."""
    moves = np.ravel_multi_index(np.indices(kernel_size).reshape(len(sizes), -1), sizes)
    moves.flags.writeable = False  # they are handed out again
    return moves


def _along(starts: Array, place: int, dims: int) -> Array:
    """The starts of one dimension, to be broadcast with those of the others."""
    shape = [1] * dims
    shape[place] = starts.shape[-1]
    return starts.reshape(*starts.shape[:-1], *shape)


def fractional_max_pool2d_backward(grad_output, input, kernel_size, output_size, indices):
    return _spread(grad_output, input, output_size, indices, 2)


def fractional_max_pool3d_backward(grad_output, input, kernel_size, output_size, indices):
    return _spread(grad_output, input, output_size, indices, 3)


def _check_gradient(grad: Array, input: Array, output_size: Ints, indices: Array, dims: int) -> None:
    name, sides = f"fractional_max_pool{dims}d_backward", _NAMES[dims][1]
    first = 2 if input.ndim == dims + 2 else 1
    if dims == 2:
        expected = (*input.shape[:first], *output_size)
        for what, array in (("gradOutput", grad), ("indices", indices)):
            if array.shape != expected:
                raise RuntimeError(f"{name}(): {what} sizes unexpected")
    for dim, (side, size) in enumerate(zip(sides, output_size), first):
        if grad.shape[wrap_dim(dim, grad.ndim)] != size:
            raise RuntimeError(f"{name}_out(): gradOutput {side} unexpected")
    for what, array in (("gradOutput", grad), ("indices", indices)):
        expect_sizes(array, (*input.shape[:-dims], *output_size), what)
    expect_float(input, f"{name}_out_frame")
    expect_dtype(grad, input)
    expect_index_dtype(indices)


def _spread(grad: Array, input: Array, output_size: Ints, indices: Array, dims: int) -> Array:
    """The gradient of each window goes to its largest element."""
    _check_gradient(grad, input, output_size, indices, dims)
    planes = int(np.prod(input.shape[:-dims]))
    total = np.zeros((planes, int(np.prod(input.shape[-dims:]))), widen(grad[..., :0]).dtype)
    rows = np.arange(planes)[:, None]
    np.add.at(total, (rows, indices.reshape(planes, -1)), widen(grad).reshape(planes, -1))
    return total.reshape(input.shape).astype(grad.dtype)


# -------------------- checks --------------------


def _check_input(input: Array, kernel_size: Ints, output_size: Ints) -> None:
    dims = len(kernel_size)
    name, sides = _NAMES[dims]
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}")
    for dim in range(1, input.ndim):
        if not input.shape[dim]:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got"
                f"{list(input.shape)} with dimension {dim} being empty."
            )
    for side, size, kernel, count in zip(sides, input.shape[-dims:], kernel_size, output_size):
        if count + kernel - 1 > size - (dims == 3):  # torch asks for one more element of a volume
            raise RuntimeError(f"{name}(): pool {side} {kernel} too large relative to input {side} {size}")


def _check_samples(input: Array, samples: Array, dims: int) -> None:
    batch, channels = (1, input.shape[0]) if input.ndim == dims + 1 else input.shape[:2]
    if samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if samples.shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != channels:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}.")
