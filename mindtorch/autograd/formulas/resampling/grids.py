"""Formulas of images sampled at the places that a grid names.

A result is a sum over the elements near its place: weights, which are functions of the grid, times elements. So

- `_sampled(image, taps, orders)` are the results where the weights of a dimension are replaced by their first or second
  derivatives by the grid, as often as `orders` says for each dimension;
- `_spread(grad, taps, orders, shape)` is its transpose, which takes what belongs to results to the elements.

All derivatives are made of the two.
"""

from functools import reduce
from itertools import product
from typing import NamedTuple

from mindtorch._core.dtype import int64
from mindtorch.autograd.formulas.common import sum_of
from mindtorch.dispatch import ops

_NEAREST, _BICUBIC = 1, 2
_ZEROS, _REFLECTION = 0, 2
_SHARPNESS = -0.75  # of the cubic convolution


class _Tap(NamedTuple):
    """One of the elements of a dimension that results are made of: where it is, and its weight with two derivatives.

    A derivative that is zero everywhere is None.
    """

    index: object
    weights: tuple


def grid_sampler_jvp(input, input_t, grid, grid_t, mode, padding, align_corners):
    """Tangent of the sampled image."""
    taps = _taps(input, grid, mode, padding, align_corners)
    return sum_of([_sampled(input_t, taps, _orders(taps)), *_moved(input, taps, grid_t)])


def grid_sampler_double_backward(input_grad, grid_grad, grad, input, grid, mode, padding, align_corners):
    """Gradients of the backward pass: of its gradient, the image and the grid."""
    taps = _taps(input, grid, mode, padding, align_corners)
    grad_terms = [] if input_grad is None else [_sampled(input_grad, taps, _orders(taps))]
    input_part = None
    if grid_grad is not None:
        grad_terms += _moved(input, taps, grid_grad)
        input_part = _spread_moved(grad, taps, grid_grad, input)
    return sum_of(grad_terms), input_part, _slope_changes(grad, taps, input, input_grad, grid_grad)


def grid_sampler_input_grad_jvp(grad, grad_t, input, grid, grid_t, mode, padding, align_corners):
    """Tangent of the image's gradient."""
    taps = _taps(input, grid, mode, padding, align_corners)
    through_grad = _spread(grad_t, taps, _orders(taps), input)
    through_grid = _spread_moved(grad, taps, grid_t, input)
    return through_grad if through_grid is None else through_grad + through_grid


def grid_sampler_grid_grad_jvp(grad, grad_t, input, input_t, grid, grid_t, mode, padding, align_corners):
    """Tangent of the grid's gradient."""
    taps = _taps(input, grid, mode, padding, align_corners)
    return _slope_changes(grad_t, taps, None, input, None) + _slope_changes(grad, taps, input, input_t, grid_t)


def _orders(taps, *moved):
    """How often the weights of each dimension are differentiated."""
    return [moved.count(dim) for dim in range(len(taps))]


def _along(grid, taps, dim):
    """The part of a grid for one dimension, as numbers for all channels; the last dimension comes first."""
    return grid.select(-1, len(taps) - 1 - dim).unsqueeze(1)


def _moved(input, taps, direction):
    """How the results change when the grid moves: a term for each dimension."""
    slopes = [_sampled(input, taps, _orders(taps, dim)) for dim in range(len(taps))]
    return [slope * _along(direction, taps, dim) for dim, slope in enumerate(slopes)]


def _spread_moved(grad, taps, direction, like):
    """How the gradient of the image changes when the grid moves; None if it doesn't."""
    if len(taps[0]) == 1:
        return None
    parts = [_spread(grad * _along(direction, taps, dim), taps, _orders(taps, dim), like) for dim in range(len(taps))]
    return sum_of(parts)


def _slope_changes(grad, taps, input, input_change, direction):
    """How the gradient of the grid changes when the image and the grid do, if they do."""
    changes = []
    for dim in reversed(range(len(taps))):
        terms = [] if input_change is None else [_sampled(input_change, taps, _orders(taps, dim))]
        if direction is not None:
            terms += [
                _sampled(input, taps, _orders(taps, dim, other)) * _along(direction, taps, other)
                for other in range(len(taps))
            ]
        changes.append((grad * sum_of(terms)).sum(1))
    return ops.stack(changes, -1)


# -------------------- elements --------------------


def _corners(taps, orders):
    """The elements that results are made of: their indices, and their weights differentiated as orders say."""
    for corner in product(*taps):
        weights = [tap.weights[order] for tap, order in zip(corner, orders)]
        if not any(weight is None for weight in weights):
            yield [tap.index for tap in corner], reduce(ops.mul, weights).unsqueeze(1)


def _sampled(input, taps, orders):
    parts = [_pick(input, indices) * weight for indices, weight in _corners(taps, orders)]
    return sum_of(parts) if parts else _pick(input, [each[0].index for each in taps]) * 0


def _spread(grad, taps, orders, like):
    batch, channels = like.shape[:2]
    total = ops.zeros((batch, channels, like[0, 0].numel()), dtype=like.dtype, device=like.device)
    for indices, weight in _corners(taps, orders):
        rows, inside = _rows(indices, like)
        shares = (grad * weight).masked_fill(~inside, 0)
        total = total.scatter_add(2, rows, shares.reshape(batch, channels, rows.shape[2]))
    return total.reshape(like.shape)


def _pick(input, indices):
    """The elements at whole places; zero for those outside."""
    rows, inside = _rows(indices, input)
    batch, channels = input.shape[:2]
    picked = input.reshape(batch, channels, -1).gather(2, rows)
    return picked.reshape(batch, channels, *inside.shape[2:]).masked_fill(~inside, 0)


def _rows(indices, like):
    """Whole places as indices among all elements of a channel, and whether they are inside."""
    inside = flat = None
    for index, size in zip(indices, like.shape[2:]):
        within = (index >= 0) & (index < size)
        near = index.clamp(0, size - 1)
        inside = within if inside is None else inside & within
        flat = near if flat is None else flat * size + near
    batch, channels = like.shape[:2]
    return flat.reshape(batch, 1, flat[0].numel()).expand(-1, channels, -1), inside.unsqueeze(1)


# -------------------- weights --------------------


def _taps(input, grid, mode, padding, align_corners):
    """For each dimension the elements that results are made of."""
    sizes = input.shape[2:]
    sides = [grid.select(-1, dim) for dim in reversed(range(len(sizes)))]
    return [_TAPS.get(mode, _linear)(side, size, padding, align_corners) for side, size in zip(sides, sizes)]


def _linear(coordinate, size, padding, align_corners):
    place, slope = _moved_inside(*_place(coordinate, size, align_corners), size, padding, align_corners)
    low = place.detach().floor()
    slope = ops.ones_like(low) * slope
    return [
        _Tap(low.to(int64), (low + 1 - place, -slope, None)),
        _Tap((low + 1).to(int64), (place - low, slope, None)),
    ]


def _nearest(coordinate, size, padding, align_corners):
    place, _ = _moved_inside(*_place(coordinate, size, align_corners), size, padding, align_corners)
    return [_Tap(place.detach().round().to(int64), (ops.ones_like(place), None, None))]


def _cubic(coordinate, size, padding, align_corners):
    """Four neighbours, which are moved inside one by one."""
    place, scale = _place(coordinate, size, align_corners)
    low = place.detach().floor()
    share = place - low
    neighbours = [_moved_inside(low + step, 1.0, size, padding, align_corners)[0] for step in (-1, 0, 1, 2)]
    curves = [_far(share + 1), _near(share), _turned(*_near(1 - share)), _turned(*_far(2 - share))]
    return [
        _Tap(neighbour.to(int64), (weight, slope * scale, curvature * scale**2))
        for neighbour, (weight, slope, curvature) in zip(neighbours, curves)
    ]


_TAPS = {_NEAREST: _nearest, _BICUBIC: _cubic}


def _place(coordinate, size, align_corners):
    """A coordinate from -1 to 1 as a place among `size` elements, and how fast that moves with it."""
    if align_corners:
        return (coordinate + 1) * ((size - 1) / 2), (size - 1) / 2
    return (coordinate + 1) * (size / 2) - 0.5, size / 2


def _moved_inside(place, slope, size, padding, align_corners):
    """The place, moved inside as the padding demands. At the edges it counts as moved: there it has no slope."""
    if padding == _ZEROS:
        return place, slope
    if padding == _REFLECTION:
        place, slope = _reflected(place, slope, size, align_corners)
    inside = (place > 0) & (place < size - 1)
    return ops.where(inside, place, place.detach().clamp(0, size - 1)), inside * slope


def _reflected(place, slope, size, align_corners):
    """A place thrown back from both ends of the image until it lies in it."""
    low, span = (0.0, size - 1) if align_corners else (-0.5, size)
    if span == 0:
        return ops.zeros_like(place), 0.0
    distance = (place - low).abs()
    rest = distance - (distance.detach() / (2 * span)).trunc() * (2 * span)
    is_back = rest > 2 * span - rest
    return ops.where(is_back, 2 * span - rest, rest) + low, ops.where(is_back ^ (place < low), -slope, slope)


def _near(distance):
    """The weight of an element at most 1 away, and its derivatives by the distance."""
    a = _SHARPNESS
    weight = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    return weight, (3 * (a + 2) * distance - 2 * (a + 3)) * distance, 6 * (a + 2) * distance - 2 * (a + 3)


def _far(distance):
    """The weight of an element between 1 and 2 away, and its derivatives by the distance."""
    a = _SHARPNESS
    weight = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return weight, (3 * a * distance - 10 * a) * distance + 8 * a, 6 * a * distance - 10 * a


def _turned(weight, slope, curvature):
    """The derivatives by the opposite of the distance."""
    return weight, -slope, curvature
