"""Kernels of `grid_sampler_2d` and `grid_sampler_3d`: images read at the places that a grid names, and the way back.

A result is a weighted sum of a few elements of its image, at the same places in every channel. Each dimension has its
own indices and weights, their products are those of the image. As in torch, half precision has places and weights of
half precision; only the sums are wider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from math import prod
from typing import NamedTuple

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import moveaxis
from mindtorch.backends.cpu.common.checks import expect_dtype, expect_float, expect_sizes
from mindtorch.backends.cpu.common.computing import FLOATS
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.grid_checks import BICUBIC, NEAREST, check_grid, check_modes
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray

_ZEROS, _REFLECTION = 0, 2
_SHARPNESS = -0.75  # of the cubic convolution
_BLOCK = 1 << 18  # elements that are read together
_FEW = 1 << 12  # numbers of a grid


class _Options(NamedTuple):
    mode: int
    padding: int
    align: bool


class _Taps(NamedTuple):
    """The elements of one dimension that the results are made of: for each of them a row, with a number per result.

    Indices count from the zero in front of the image. Slopes are derivatives of the weights by the grid.
    """

    indices: Array
    weights: Array
    slopes: Array


def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    check_modes(interpolation_mode, padding_mode)
    _check(input, grid, 4, interpolation_mode, "grid_sampler_2d_cpu_kernel_impl")
    return quiet(_sample, input, grid, _Options(interpolation_mode, padding_mode, align_corners))


def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners):
    check_modes(interpolation_mode, padding_mode)
    _check(input, grid, 5, interpolation_mode, "grid_sampler3d_cpu")
    return quiet(_sample, input, grid, _Options(interpolation_mode, padding_mode, align_corners))


def grid_sampler_2d_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask):
    check_modes(interpolation_mode, padding_mode)
    _check(input, grid, 4, interpolation_mode, "grid_sampler_2d_backward_cpu_kernel_impl")
    expect_dtype(grad_output, input)
    _check_gradient(grad_output, input, grid)
    options = _Options(interpolation_mode, padding_mode, align_corners)
    return quiet(_go_back, grad_output, input, grid, options, output_mask)


def grid_sampler_3d_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask):
    check_modes(interpolation_mode, padding_mode)
    _check(input, grid, 5, interpolation_mode, "grid_sampler_3d_backward_cpu")
    expect_dtype(grad_output, input)
    _check_gradient(grad_output, input, grid)
    options = _Options(interpolation_mode, padding_mode, align_corners)
    return quiet(_go_back, grad_output, input, grid, options, output_mask)


def _check(input: Array, grid: Array, ndim: int, mode: int, name: str) -> None:
    check_grid(input, grid, ndim, mode)
    expect_float(input, name)
    expect_dtype(grid, input)


def _check_gradient(grad: Array, input: Array, grid: Array) -> None:
    if grad.ndim != input.ndim:
        raise RuntimeError(f"TensorAccessor expected {input.ndim} dims but tensor has {grad.ndim}")
    expect_sizes(grad, (*input.shape[:2], *grid.shape[1:-1]), "grad_output")


# -------------------- images --------------------


def _sample(input: Array, grid: Array, options: _Options) -> Array:
    images, channels = input.shape[:2]
    if 0 < grid.size <= _FEW and 0 < input.size <= _FEW and input.dtype in FLOATS:
        if options.mode not in _ON_A_SIDE and options.padding != _REFLECTION:
            return _sample_few(input, grid, options)
    framed = _framed(input)
    result = np.empty((images, channels, prod(grid.shape[1:-1])), input.dtype)
    combine = _rounded_sums if input.dtype.itemsize == 2 else _sums
    for image, taps in enumerate(_taps_by_image(grid, input.shape[2:], options)):
        indices, weights = _flat_indices(taps, input.shape[2:]), _product([each.weights for each in taps])
        for some in _some_channels(channels, indices.size):
            combine(framed[image, some].take(indices, 1), weights, result[image, some])
    return result.reshape(images, channels, *grid.shape[1:-1])


def _sample_few(input: Array, grid: Array, options: _Options) -> Array:
    """The same by linear interpolation, with all dimensions and images at once: each step is one call of NumPy."""
    images, channels, *sizes = input.shape
    dims, dtype = len(sizes), input.dtype
    scale, offset, last, jumps = _scales(tuple(sizes), dtype, options.align)
    places = (grid.reshape(-1, dims).T[::-1] + kept_constant(1, dtype)) * scale
    if not options.align:
        places -= offset
    if options.padding != _ZEROS:
        places = np.fmin(np.fmax(places, kept_constant(0, dtype)), last)
    weights, nearest = np.empty((2, 2, *places.shape), dtype)
    np.floor(places, nearest[0])
    np.add(nearest[0], kept_constant(1, dtype), nearest[1])
    np.subtract(places, nearest[0], weights[1])
    np.subtract(kept_constant(1, dtype), weights[1], weights[0])
    inside = np.fmax(np.fmin(nearest, last + kept_constant(1, dtype)), kept_constant(-1, dtype)).astype(np.intp)
    inside += 1
    inside *= jumps
    index, weight = inside[:, 0], weights[:, 0]
    for dim in range(1, dims):
        index = (index[:, None] + inside[:, dim]).reshape(-1, index.shape[1])
        weight = (weight[:, None] * weights[:, dim]).reshape(-1, index.shape[1])
    framed = _framed(input).reshape(images * channels, -1)
    result = np.empty((images, channels, index.shape[1] // images), dtype)
    for image in range(images):
        part = slice(image * result.shape[2], (image + 1) * result.shape[2])
        elements = framed[image * channels : (image + 1) * channels].take(index[:, part], 1)
        _sums(elements, weight[:, part], result[image])
    return result.reshape(images, channels, *grid.shape[1:-1])


@lru_cache(maxsize=256)
def _scales(sizes: tuple[int, ...], dtype: np.dtype, align: bool) -> tuple[Array, Array, Array, Array]:
    """For each dimension, as columns: by what a place grows with its coordinate, and what is taken off, the last place,
    and how far elements are apart in a framed image."""
    columns = [[(size - 1) / 2 if align else size / 2, 0.5, size - 1] for size in sizes]
    jumps = [prod([size + 2 for size in sizes[dim + 1 :]]) for dim in range(len(sizes))]
    return *np.array(columns, dtype).T[..., None], np.array(jumps)[:, None]


def _sums(elements: Array, weights: Array, out: Array) -> None:
    np.einsum("ctp,tp->cp", elements, weights, out=out)


def _rounded_sums(elements: Array, weights: Array, out: Array) -> None:
    """Half precision rounds every product and every sum, as torch does."""
    products = elements * weights
    out[...] = reduce(np.add, moveaxis(products, 1, 0))


def _go_back(
    grad: Array, input: Array, grid: Array, options: _Options, output_mask: Sequence[bool]
) -> tuple[Array | None, Array | None]:
    images, channels = input.shape[:2]
    rows, framed = widen(grad).reshape(images, channels, prod(grad.shape[2:])), _framed(widen(input))
    input_grad = np.empty(framed.shape, input.dtype) if output_mask[0] else None
    grid_grad = np.empty(grid.shape, grid.dtype) if output_mask[1] else None
    for image, taps in enumerate(_taps_by_image(grid, input.shape[2:], options)):
        indices = _flat_indices(taps, input.shape[2:])
        if input_grad is not None:
            _spread(rows[image], indices, _weights(taps), input_grad[image])
        if grid_grad is not None:
            products = _summed_products(rows[image], framed[image], indices)
            grid_grad[image] = _grid_slopes(products, taps).reshape(grid.shape[1:])
    return None if input_grad is None else _unframed(input_grad, input.shape), grid_grad


def _some_channels(channels: int, elements: int) -> Iterator[slice]:
    step = max(_BLOCK // max(elements, 1), 1)
    for first in range(0, channels, step):
        yield slice(first, first + step)


def _framed(input: Array) -> Array:
    """The images, flat, with zeros all around, which stand for everything outside."""
    images, channels, *sizes = input.shape
    result = np.zeros((images, channels, *[size + 2 for size in sizes]), input.dtype)
    result[(..., *[slice(1, -1)] * len(sizes))] = input
    return result.reshape(images, channels, prod(result.shape[2:]))


def _unframed(framed: Array, shape: tuple[int, ...]) -> Array:
    whole = framed.reshape(*shape[:2], *[size + 2 for size in shape[2:]])
    return whole[(..., *[slice(1, -1)] * (len(shape) - 2))].copy()


def _spread(grad: Array, indices: Array, weights: Array, target: Array) -> None:
    """What each element of an image gets from the results that it is part of."""
    channels, size = target.shape
    for some in _some_channels(channels, indices.size):
        shares = grad[some, None] * weights
        starts = np.arange(len(shares)).reshape(-1, 1, 1) * size
        sums = np.bincount((starts + indices).ravel(), shares.ravel(), shares.shape[0] * size)
        target[some] = sums.reshape(-1, size)


def _summed_products(grad: Array, framed: Array, indices: Array) -> Array:
    """For each result and each element it is made of: gradient times element, summed over the channels."""
    total = np.zeros(indices.shape, grad.dtype)
    for some in _some_channels(len(grad), indices.size):
        total += np.einsum("cp,ctp->tp", grad[some], framed[some].take(indices, 1))
    return total


def _grid_slopes(products: Array, taps: list[_Taps]) -> Array:
    """How much moving each place along each dimension would change the sum; the last dimension comes first."""
    slopes = [_product([each.slopes if each is moved else each.weights for each in taps]) for moved in reversed(taps)]
    return np.stack([(products * slope).sum(0) for slope in slopes], -1)


# -------------------- places --------------------


def _taps_by_image(grid: Array, sizes: Sequence[int], options: _Options) -> Iterator[list[_Taps]]:
    """Those of few places are found for all images at once."""
    if grid.size > _FEW or len(grid) < 2:
        for places in grid:
            yield _taps(places, sizes, options)
        return
    together, count = _taps(grid, sizes, options), prod(grid.shape[1:-1])
    for image in range(len(grid)):
        part = slice(image * count, (image + 1) * count)
        yield [_Taps(*[each[:, part] for each in tap]) for tap in together]


def _taps(places: Array, sizes: Sequence[int], options: _Options) -> list[_Taps]:
    tap = _ON_A_SIDE.get(options.mode, _linear)
    flat = places.reshape(-1, len(sizes))
    return [tap(flat[:, -1 - dim], size, options) for dim, size in enumerate(sizes)]


def _weights(taps: list[_Taps]) -> Array:
    return widen(_product([each.weights for each in taps]))


def _product(parts: list[Array]) -> Array:
    return reduce(lambda left, right: (left[:, None] * right).reshape(-1, right.shape[1]), parts)


def _flat_indices(taps: list[_Taps], sizes: Sequence[int]) -> Array:
    """Where the elements of an image are among its framed ones."""
    flat = taps[0].indices
    for each, size in zip(taps[1:], sizes[1:]):
        flat = (flat[:, None] * (size + 2) + each.indices).reshape(-1, flat.shape[1])
    return flat


def _linear(coordinates: Array, size: int, options: _Options) -> _Taps:
    places, slope = _moved_inside(*_place(coordinates, size, options), size, options)
    low = np.floor(places)
    share = places - low
    indices = _indices(_pair(low, low + kept_constant(1, low.dtype)), size)
    slopes = np.empty((2, len(places)), places.dtype)
    slopes[0], slopes[1] = -slope, slope
    return _Taps(indices, _pair(kept_constant(1, share.dtype) - share, share), slopes)


def _pair(first: Array, second: Array) -> Array:
    result = np.empty((2, *first.shape), first.dtype)
    result[0], result[1] = first, second
    return result


def _nearest(coordinates: Array, size: int, options: _Options) -> _Taps:
    places, _ = _moved_inside(*_place(coordinates, size, options), size, options)
    weights = np.ones((1, len(places)), places.dtype)
    return _Taps(_indices(np.rint(places)[None], size), weights, np.zeros_like(weights))


def _cubic(coordinates: Array, size: int, options: _Options) -> _Taps:
    """Of four neighbours, which are moved inside one by one."""
    places, slope = _place(coordinates, size, options)
    low = np.floor(places)
    share = places - low
    neighbours = low + np.arange(-1, 3, dtype=places.dtype)[:, None]
    distances = [share + 1, share, 1 - share, 2 - share]
    weights, slopes = zip(*[curve(each) for curve, each in zip((_far, _near, _near, _far), distances)])
    signs = np.array([slope, slope, -slope, -slope], places.dtype)[:, None]
    return _Taps(
        _indices(_moved_inside(neighbours, 1.0, size, options)[0], size),
        np.array(weights),
        np.array(slopes) * signs,
    )


_ON_A_SIDE: dict[int, Callable[[Array, int, _Options], _Taps]] = {NEAREST: _nearest, BICUBIC: _cubic}


def _place(coordinates: Array, size: int, options: _Options) -> tuple[Array, float]:
    """Coordinates from -1 to 1 as places among `size` elements, and how fast these move with them."""
    dtype = coordinates.dtype  # a Python float would turn bfloat16 into float32
    from_left = coordinates + kept_constant(1, dtype)
    if options.align:
        return from_left * kept_constant((size - 1) / 2, dtype), (size - 1) / 2
    return from_left * kept_constant(size / 2, dtype) - kept_constant(0.5, dtype), size / 2


def _moved_inside(places: Array, slope: float, size: int, options: _Options) -> tuple[Array, Array | float]:
    """The places, moved inside as the padding demands. At the edges they count as moved: there they have no slope."""
    if options.padding == _ZEROS:
        return places, slope
    if options.padding == _REFLECTION:
        places, slope = _reflected(places, slope, size, options.align)
    inside = (places > 0) & (places < size - 1)
    number = places.dtype.type
    return np.fmin(np.fmax(places, number(0)), number(size - 1)), slope * inside  # nan is moved to the edge


def _reflected(places: Array, slope: float, size: int, align: bool) -> tuple[Array, Array | float]:
    """Places thrown back from both ends of the image until they lie in it."""
    number = places.dtype.type
    low, both_ways = (number(0), number(2 * (size - 1))) if align else (number(-0.5), number(2 * size))
    if both_ways == 0:
        return np.zeros_like(places), 0.0
    distances = np.abs(places - low)
    rest = distances - np.trunc(distances / both_ways) * both_ways
    is_back = rest > both_ways - rest
    turned = is_back ^ (places < low)
    return np.where(is_back, both_ways - rest, rest) + low, np.where(turned, -slope, slope)


def _indices(places: Array, size: int) -> Array:
    """Whole places as indices into a framed image: all that is outside is a zero of the frame."""
    low, high = kept_constant(-1, places.dtype), kept_constant(size, places.dtype)
    indices = np.fmax(np.fmin(places, high), low).astype(np.intp)
    return np.add(indices, 1, indices)  # these two take nan for outside, too


def _near(distance: Array) -> tuple[Array, Array]:
    """The weight of an element at most 1 away, and its derivative by the distance."""
    a = _SHARPNESS
    weight = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    return weight, (3 * (a + 2) * distance - 2 * (a + 3)) * distance


def _far(distance: Array) -> tuple[Array, Array]:
    """The weight of an element between 1 and 2 away, and its derivative by the distance."""
    a = _SHARPNESS
    weight = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return weight, (3 * a * distance - 10 * a) * distance + 8 * a
