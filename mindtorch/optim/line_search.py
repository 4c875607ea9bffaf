"""The line search of L-BFGS: a step that lowers the loss enough and flattens the slope enough (strong Wolfe)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mindtorch._core.tensor import Tensor

_DECREASE, _FLATTENING = 1e-4, 0.9
_TOLERANCE = 1e-9


class _Point(NamedTuple):
    """A size of the step, and what is found there: the loss, the gradient and the slope along the direction."""

    size: float
    loss: float
    grad: Tensor
    slope: float


def strong_wolfe(
    probe: Callable[[Any], tuple[float, Tensor]],
    size: Any,
    direction: Tensor,
    start: tuple[float, Tensor, Tensor],
    max_steps: int = 25,
) -> tuple[float, Tensor, float, int]:
    """The loss, the gradient and the size of the step that was found, and the number of probes."""
    search = _Search(probe, direction, _Point(0.0, start[0], start[1].clone(), float(start[2])), max_steps)
    bracket, is_done = search.expand(size)
    best = bracket[0] if is_done else search.zoom(*bracket)
    return best.loss, best.grad, best.size, search.probes


class _Search:
    def __init__(self, probe: Callable, direction: Tensor, start: _Point, max_steps: int) -> None:
        self._probe = probe
        self._direction = direction
        self._start = start
        self._max_steps = max_steps
        self._width = float(direction.abs().max())
        self._steps = 0
        self.probes = 0

    def _point(self, size: float) -> _Point:
        self.probes += 1
        loss, grad = self._probe(size)
        return _Point(size, loss, grad.clone(), float(grad.dot(self._direction)))

    def _is_too_high(self, point: _Point) -> bool:
        return point.loss > self._start.loss + _DECREASE * point.size * self._start.slope

    def _is_flat(self, point: _Point) -> bool:
        return abs(point.slope) <= -_FLATTENING * self._start.slope

    def expand(self, size: float) -> tuple[list[_Point], bool]:
        """Larger and larger steps until a good one is passed: two points around it; or one that is good itself."""
        before, point = self._start, self._point(size)
        while self._steps < self._max_steps:
            if self._is_too_high(point) or (self._steps > 1 and point.loss >= before.loss):
                return [before, point], False
            if self._is_flat(point):
                return [point], True
            if point.slope >= 0:
                return [before, point], False
            bounds = point.size + 0.01 * (point.size - before.size), point.size * 10
            size = _lowest(before, point, bounds)
            before, point = point, self._point(size)
            self._steps += 1
        return [self._start, point], False

    def zoom(self, one: _Point, other: _Point) -> _Point:
        """The better end of the bracket, after it was narrowed."""
        ends = [one, other]
        low = 0 if one.loss <= other.loss else 1
        was_slow = False
        while self._steps < self._max_steps and abs(ends[1].size - ends[0].size) * self._width >= _TOLERANCE:
            size, was_slow = _inside(ends, was_slow)
            point = self._point(size)
            self._steps += 1
            if self._is_too_high(point) or point.loss >= ends[low].loss:
                ends[1 - low] = point
                low = 0 if ends[0].loss <= ends[1].loss else 1
                continue
            if self._is_flat(point):
                return point
            if point.slope * (ends[1 - low].size - ends[low].size) >= 0:
                ends[1 - low] = ends[low]
            ends[low] = point
        return ends[low]


def _lowest(one: _Point, other: _Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points with their slopes is lowest, within bounds: those of the points by default."""
    left, right = (one, other) if one.size <= other.size else (other, one)
    low, high = bounds or (left.size, right.size)
    bend = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.size - other.size)
    square = bend * bend - one.slope * other.slope
    if square < 0:
        return (low + high) / 2
    root = math.sqrt(square)
    share = _quotient(right.slope + root - bend, right.slope - left.slope + 2 * root)
    return min(max(right.size - (right.size - left.size) * share, low), high)


def _quotient(dividend: float, divisor: float) -> float:
    """As tensors divide: along a straight line the divisor is 0."""
    if divisor:
        return dividend / divisor
    return math.copysign(math.inf, dividend) if dividend else math.nan


def _inside(ends: list[_Point], was_slow: bool) -> tuple[float, bool]:
    """The next size to try; one near an end, twice in a row or at the end, is moved inwards."""
    one, other = ends
    size = _lowest(one, other)
    low, high = sorted((one.size, other.size))
    margin = 0.1 * (high - low)
    if min(high - size, size - low) >= margin:
        return size, False
    if not was_slow and low < size < high:
        return size, True
    return (high - margin if abs(size - high) < abs(size - low) else low + margin), False
