"""Sampling planes at other places: grids, and images made larger or smaller."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import Evaluator, expect, refuse, require, same_dtype, store, wide

EVALUATORS: dict[str, Evaluator] = {}

# -------------------- grids --------------------
# "interpolationMode: 0 bilinear, 1 nearest, 2 bicubic; paddingMode: 0 zeros, 1 border, 2 reflection"


def _unnormalized(x: np.ndarray, size: int, align: bool) -> tuple[np.ndarray, float]:
    """From -1..1 to positions, and the slope: the ends are centres of the outer elements, or their edges."""
    slope = (size - 1) / 2 if align else size / 2
    return ((x + 1) / 2 * (size - 1) if align else ((x + 1) * size - 1) / 2), slope


def _reflected(x: np.ndarray, size: int, align: bool) -> tuple[np.ndarray, np.ndarray]:
    low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
    if span == 0:
        return np.zeros_like(x), np.zeros_like(x)
    sign = np.where(x < low, -1.0, 1.0)
    distance = np.abs(x - low)
    flips, extra = np.floor(distance / span), np.fmod(distance, span)
    odd = flips % 2 == 1
    return np.where(odd, span - extra, extra) + low, np.where(odd, -sign, sign)


def _positions(x: np.ndarray, size: int, padding: int, align: bool) -> tuple[np.ndarray, np.ndarray]:
    """Positions within a dimension, and their derivatives."""
    found, slope = _unnormalized(x, size, align)
    slopes = np.full_like(found, slope)
    if padding == 2:
        found, factor = _reflected(found, size, align)
        slopes = slopes * factor
    if padding:
        slopes = np.where((found > 0) & (found < size - 1), slopes, 0)
        found = np.clip(found, 0, size - 1)
    return np.where(np.isfinite(found), found, -100), slopes


def _linear(x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The neighbours in a dimension: place, weight, the weight's derivative."""
    low = np.floor(x)
    return [(low, low + 1 - x, -np.ones_like(x)), (low + 1, x - low, np.ones_like(x))]


def _nearest(x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    return [(np.rint(x), np.ones_like(x), np.zeros_like(x))]


def cubic(distance: np.ndarray, a: float = -0.75) -> np.ndarray:
    """Keys' kernel."""
    t = np.abs(distance)
    near, far = ((a + 2) * t - (a + 3)) * t * t + 1, ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def _cubic_slope(distance: np.ndarray, a: float = -0.75) -> np.ndarray:
    t, sign = np.abs(distance), np.sign(distance)
    near, far = (3 * (a + 2) * t - 2 * (a + 3)) * t, (3 * a * t - 10 * a) * t + 8 * a
    return sign * np.where(t <= 1, near, np.where(t < 2, far, 0))


def _cubic_neighbours(x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    low = np.floor(x)
    return [(low + i, cubic(x - low - i), _cubic_slope(x - low - i)) for i in (-1, 0, 1, 2)]


_NEIGHBOURS: tuple[Callable[..., Any], ...] = (_linear, _nearest, _cubic_neighbours)


class Sampler:
    """Where each point of a grid takes its value from. Of a grid, x comes first: the last dimension."""

    def __init__(self, size: Sequence[int], grid: np.ndarray, mode: int, padding: int, align: bool) -> None:
        require(mode in (0, 1, 2) and (mode < 2 or len(size) == 2), f"interpolationMode {mode}")
        require(padding in (0, 1, 2), f"paddingMode {padding}")
        self.size, self.mode, self.padding, self.align = size, mode, padding, align
        dims = range(len(size))
        if mode == 2:  # each of the 16 places is moved into the plane, not the point
            found = [_unnormalized(grid[..., -1 - d], size[d], align) for d in dims]
            self.slopes = [np.full(grid.shape[:-1], slope) for _, slope in found]
        else:
            moved = [_positions(grid[..., -1 - d], size[d], padding, align) for d in dims]
            found, self.slopes = moved, [slope for _, slope in moved]
        self.neighbours = [_NEIGHBOURS[mode](x) for x, _ in found]

    def _place(self, x: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        if self.mode == 2 and self.padding:
            x = _reflected(x, size, self.align)[0] if self.padding == 2 else x
            x = np.clip(np.rint(x), 0, size - 1)
        inside = (x >= 0) & (x < size)
        return np.where(inside, x, 0).astype(np.int64), inside

    def corners(self) -> Any:
        """Each combination of neighbours: flat places, whether they are inside, weights and their derivatives."""
        for corner in itertools.product(*self.neighbours):
            flat, inside = np.zeros(corner[0][0].shape, np.int64), np.ones(corner[0][0].shape, bool)
            for (x, _, _), size in zip(corner, self.size):
                place, own = self._place(x, size)
                flat, inside = flat * size + place, inside & own
            weights = [weight for _, weight, _ in corner]
            slopes = [
                math.prod([c[2] if d == e else c[1] for e, c in enumerate(corner)]) * self.slopes[d]
                for d in range(len(corner))
            ]
            yield flat, inside, math.prod(weights), slopes


def _checked(input: Any, grid: Any, rank: int) -> tuple[np.ndarray, np.ndarray]:
    if input is None or grid is None:
        refuse("a tensor is null", 161001)
    same_dtype(input, grid)
    require(input.ndim == grid.ndim == rank + 2 and grid.shape[-1] == rank, f"{input.shape} and a grid of {grid.shape}")
    require(len(input) == len(grid), "batches differ")
    return wide(input), wide(grid)


def _taken(planes: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """(N, C, P) at places (N, ..): (N, C, ..)"""
    n, c = planes.shape[:2]
    places = np.broadcast_to(flat.reshape(n, 1, -1), (n, c, flat[0].size))
    return np.take_along_axis(planes, places, 2).reshape(n, c, *flat.shape[1:])


def _grid_sampler(rank: int) -> Evaluator:
    def evaluate(input: Any, grid: Any, mode: int, padding: int, align: bool, out: Any) -> None:
        x, points = _checked(input, grid, rank)
        planes = x.reshape(*x.shape[:2], -1)
        result = np.zeros((*x.shape[:2], *points.shape[1:-1]))
        for flat, inside, weight, _ in Sampler(x.shape[2:], points, mode, padding, align).corners():
            result += _taken(planes, flat) * (weight * inside)[:, None]
        store(out, result, dtype=input.dtype)

    return evaluate


def _grid_sampler_backward(rank: int) -> Evaluator:
    def evaluate(
        grad: Any,
        input: Any,
        grid: Any,
        mode: int,
        padding: int,
        align: bool,
        mask: Any,
        grad_input: Any,
        grad_grid: Any,
    ) -> None:
        x, points = _checked(input, grid, rank)
        require(mask is not None and len(mask) == 2, "outputMask has 2 values")
        expect(grad, (*x.shape[:2], *points.shape[1:-1]), dtype=input.dtype)
        g, planes = wide(grad), x.reshape(*x.shape[:2], -1)
        own, slopes = np.zeros(planes.shape), np.zeros(points.shape)
        n, c = np.indices(planes.shape[:2])
        for flat, inside, weight, by_dim in Sampler(x.shape[2:], points, mode, padding, align).corners():
            places = flat.reshape(len(flat), 1, -1)
            np.add.at(own, (n[..., None], c[..., None], places), (g * (weight * inside)[:, None]).reshape(*n.shape, -1))
            along = (g * _taken(planes, flat)).sum(1) * inside
            for d, slope in enumerate(by_dim):
                slopes[..., -1 - d] += along * slope
        if mask[0]:
            store(grad_input, own.reshape(x.shape), dtype=input.dtype)
        if mask[1]:
            store(grad_grid, slopes, dtype=input.dtype)

    return evaluate


EVALUATORS |= {
    "aclnnGridSampler2D": _grid_sampler(2),
    "aclnnGridSampler3D": _grid_sampler(3),
    "aclnnGridSampler2DBackward": _grid_sampler_backward(2),
    "aclnnGridSampler3DBackward": _grid_sampler_backward(3),
}


def _affine_grid(theta: Any, size: Any, align: bool, out: Any) -> None:
    # theta (N, 2, 3) or (N, 3, 4), size (N, C, H, W) or (N, C, D, H, W); x comes first in out
    require(theta.shape == (size[0], len(size) - 2, len(size) - 1), f"theta of {theta.shape} for {tuple(size)}")
    ends = [1 if align else (n - 1) / n for n in size[2:]]
    lines = [np.linspace(-end, end, n) if n > 1 else np.zeros(1) for end, n in zip(ends, size[2:])]
    points = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
    store(out, np.einsum("...k,njk->n...j", points, wide(theta)), dtype=theta.dtype)


EVALUATORS["aclnnAffineGrid"] = _affine_grid

# -------------------- images: each dimension is a matrix of weights --------------------


def _ratio(size: int, count: int, scale: float) -> float:
    """Source elements for one of the result: by the factor if it is given (not 0), else by the sizes."""
    return 1 / scale if scale > 0 else size / count


def _from(count: int, ratio: float, exact: bool) -> np.ndarray:
    return np.arange(count) * ratio if not exact else (np.arange(count) + 0.5) * ratio


def _nearest_matrix(size: int, count: int, scale: float, exact: bool) -> np.ndarray:
    # "h_src = min(floor(h_dst * scalesH), H - 1)"; exact: of the centre of the element
    source = np.minimum(np.floor(_from(count, _ratio(size, count, scale), exact)), size - 1).astype(int)
    return np.eye(size)[source]


def _sources(size: int, count: int, scale: float, align: bool) -> np.ndarray:
    if align:
        return np.arange(count) * ((size - 1) / (count - 1) if count > 1 else 0)
    return (np.arange(count) + 0.5) * _ratio(size, count, scale) - 0.5


def _linear_matrix(size: int, count: int, scale: float, align: bool) -> np.ndarray:
    x = np.maximum(_sources(size, count, scale, align), 0)
    low = np.minimum(np.floor(x), size - 1)
    part = x - low
    rows, matrix = np.arange(count), np.zeros((count, size))
    np.add.at(matrix, (rows, low.astype(int)), 1 - part)
    np.add.at(matrix, (rows, np.minimum(low + 1, size - 1).astype(int)), part)
    return matrix


def _cubic_matrix(size: int, count: int, scale: float, align: bool) -> np.ndarray:
    x = _sources(size, count, scale, align)
    rows, matrix = np.arange(count), np.zeros((count, size))
    for i in (-1, 0, 1, 2):
        place = np.floor(x) + i
        np.add.at(matrix, (rows, np.clip(place, 0, size - 1).astype(int)), cubic(x - place))
    return matrix


def _stretched(kernel: Callable[[np.ndarray], np.ndarray], radius: int) -> Callable[..., np.ndarray]:
    """Against aliasing: where the image becomes smaller, the kernel becomes as much wider. Weights add up to 1.

    CANN's pages have the width of the windows (floor(scale) 2 + 1) and the division by the sum of the weights, and
    leave out that distances are divided by the scale then.
    """

    def matrix(size: int, count: int, scale: float, align: bool) -> np.ndarray:
        ratio = ((size - 1) / (count - 1) if count > 1 else 0) if align else _ratio(size, count, scale)
        centre, spread = (np.arange(count)[:, None] + 0.5) * ratio, max(ratio, 1)
        places, reach = np.arange(size), radius * spread
        inside = (places >= np.trunc(centre - reach + 0.5)) & (places < np.trunc(centre + reach + 0.5))
        weights = np.where(inside, kernel((places + 0.5 - centre) / spread), 0)
        return weights / weights.sum(1, keepdims=True)

    return matrix


def _applied(x: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
    for d, matrix in enumerate(reversed(matrices)):
        x = np.moveaxis(np.moveaxis(x, -1 - d, -1) @ matrix.T, -1, -1 - d)
    return x


def _resize(self: Any, matrices: list[np.ndarray], out: Any) -> None:
    require(self.ndim == 2 + len(matrices), f"{self.ndim} dimensions")
    store(out, _applied(wide(self), matrices), dtype=self.dtype)


def _matrices(
    function: Callable[..., np.ndarray], sizes: Any, counts: Any, scales: Any, *flags: bool
) -> list[np.ndarray]:
    require(counts is not None and len(counts) == len(sizes), "outputSize has another length")
    return [function(n, c, s, *flags) for n, c, s in zip(sizes, counts, scales)]


def _nearest_forward(rank: int, exact: bool) -> Evaluator:
    def evaluate(self: Any, size: Any, *rest: Any) -> None:
        *scales, out = rest
        scales = scales or [0.0] * rank
        _resize(self, _matrices(_nearest_matrix, self.shape[2:], size, scales, exact), out)

    return evaluate


def _nearest_backward(exact: bool) -> Evaluator:
    def evaluate(grad: Any, size: Any, input_size: Any, *rest: Any) -> None:
        *scales, out = rest
        matrices = _matrices(_nearest_matrix, input_size[2:], size, scales, exact)
        _resize(grad, [matrix.T for matrix in matrices], out)

    return evaluate


def _smooth_forward(function: Callable[..., np.ndarray]) -> Evaluator:
    def evaluate(self: Any, size: Any, align: bool, *rest: Any) -> None:
        *scales, out = rest
        _resize(self, _matrices(function, self.shape[2:], size, scales, align), out)

    return evaluate


def _smooth_backward(function: Callable[..., np.ndarray]) -> Evaluator:
    def evaluate(grad: Any, size: Any, input_size: Any, align: bool, *rest: Any) -> None:
        *scales, out = rest
        _resize(grad, [m.T for m in _matrices(function, input_size[2:], size, scales, align)], out)

    return evaluate


for _rank in (1, 2, 3):
    EVALUATORS[f"aclnnUpsampleNearest{_rank}d"] = _nearest_forward(_rank, False)
    EVALUATORS[f"aclnnUpsampleNearest{_rank}dBackward"] = _nearest_backward(False)
    EVALUATORS[f"aclnnUpsampleNearestExact{_rank}d"] = _nearest_forward(_rank, True)
    EVALUATORS[f"aclnnUpsampleNearestExact{_rank}dBackward"] = _nearest_backward(True)
for _rank in (1, 2):
    EVALUATORS[f"aclnnUpsampleNearest{_rank}dV2"] = _nearest_forward(_rank, False)
for _name, _function in (("Linear1d", _linear_matrix), ("Bilinear2d", _linear_matrix), ("Trilinear3d", _linear_matrix)):
    EVALUATORS[f"aclnnUpsample{_name}"] = _smooth_forward(_function)
    EVALUATORS[f"aclnnUpsample{_name}Backward"] = _smooth_backward(_function)
EVALUATORS["aclnnUpsampleBilinear2dBackwardV2"] = _smooth_backward(_linear_matrix)
EVALUATORS["aclnnUpsampleBicubic2d"] = _smooth_forward(_cubic_matrix)
EVALUATORS["aclnnUpsampleBicubic2dBackward"] = _smooth_backward(_cubic_matrix)
for _name, _backward, _function in (
    ("Bilinear2dAA", "Bilinear2dAABackward", _stretched(lambda t: np.maximum(1 - np.abs(t), 0), 1)),
    ("Bicubic2dAA", "Bicubic2dAAGrad", _stretched(lambda t: cubic(t, -0.5), 2)),
):
    EVALUATORS[f"aclnnUpsample{_name}"] = _smooth_forward(_function)
    EVALUATORS[f"aclnnUpsample{_backward}"] = _smooth_backward(_function)
