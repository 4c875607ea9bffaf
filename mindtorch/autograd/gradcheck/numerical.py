"""Derivatives as central differences of function values.

A Jacobian is a NumPy array with a row for each element of the input and a column for each element of the output. The
row of a complex element z = x + iy is d/dx + i d/dy, which is what autograd calls a gradient.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch._core.dtype import complex128, float64
from mindtorch.autograd.gradcheck.arguments import as_tuple, elements_of, is_sparse, places_of, requires_grad


@dataclass(frozen=True, slots=True)
class Step:
    """Where and how far an input is moved: `moves` has a second, imaginary distance if the input is complex."""

    row: int
    entry: Any
    moves: tuple
    index: tuple | None = None


def unit_steps(source: Any, eps: float) -> Iterator[Step]:
    """One step for each element that is in memory."""
    data = elements_of(source).data
    moves = (eps, eps * 1j) if source.is_complex() else (eps,)
    for row, index in zip(places_of(source), np.ndindex(tuple(data.shape)), strict=True):
        yield Step(row, data[index], moves, index)


def step_along(source: Any, direction: tuple, eps: float) -> Step:
    """One step of all elements at once."""
    data = elements_of(source).data
    moves = [part.reshape(data.shape) * eps for part in direction]
    return Step(0, data, (moves[0], *(move * 1j for move in moves[1:])))


class Differences:
    """The central differences of some outputs of a function, in steps of length `eps`."""

    def __init__(self, function: Callable, arguments: tuple, outputs: Sequence[int], eps: float) -> None:
        self._function = function
        self._arguments = arguments
        self._outputs = outputs
        self._eps = eps

    def jacobians(self) -> list[list[np.ndarray]]:
        """For each input that requires grad and each output."""
        sources = [value for value in self._arguments if requires_grad(value)]
        return [self._stacked(unit_steps(source, self._eps), source.numel()) for source in sources]

    def products(self, directions: Sequence[tuple]) -> list[list[np.ndarray]]:
        """The same Jacobians, each multiplied by a vector from the left: the change in that direction."""
        sources = [value for value in self._arguments if requires_grad(value)]
        steps = [step_along(source, each, self._eps) for source, each in zip(sources, directions, strict=True)]
        return [[matrix[0] for matrix in self._stacked([step], 1)] for step in steps]

    def _stacked(self, steps: Any, rows: int) -> list[np.ndarray]:
        found = [(step.row, self._along(step)) for step in steps]
        if not found:
            return [np.zeros((rows, vector_of(output).size)) for output in self._values()]
        matrices = [np.zeros((rows, vector.size), vector.dtype) for vector in found[0][1]]
        for row, vectors in found:
            for matrix, vector in zip(matrices, vectors, strict=True):
                matrix[row] = vector
        return matrices

    def _along(self, step: Step) -> list[np.ndarray]:
        real, *imaginary = (self._difference(step, move) for move in step.moves)
        return [x + 1j * y for x, y in zip(real, imaginary[0], strict=True)] if imaginary else real

    def _difference(self, step: Step, move: Any) -> list[np.ndarray]:
        before = step.entry.clone()
        step.entry.copy_(before - move)
        earlier = self._values()
        step.entry.copy_(before + move)
        later = self._values()
        step.entry.copy_(before)
        for pair in zip(earlier, later, strict=True):
            self._check_alike(*pair, step.index)
        pairs = zip(map(vector_of, earlier), map(vector_of, later), strict=True)
        return [(after - previous) / (2 * self._eps) for previous, after in pairs]

    def _values(self) -> list[Any]:
        outputs = as_tuple(self._function(*self._arguments))
        return [outputs[i].clone() for i in self._outputs]

    def _check_alike(self, one: Any, other: Any, index: tuple | None) -> None:
        place = "" if index is None else f"on index {index} "
        for fact in ("shape", "dtype"):
            if getattr(one, fact) != getattr(other, fact):
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {fact} when inputs are perturbed {place}by "
                    f"{self._eps}, but got: {fact}s {getattr(one, fact)} and {getattr(other, fact)}."
                )


def vector_of(tensor: Any) -> np.ndarray:
    """The elements as numbers in double precision."""
    plain = tensor.detach().cpu()
    plain = plain.to_dense() if is_sparse(plain) else plain
    return np.array(plain.to(complex128 if plain.is_complex() else float64).numpy()).reshape(-1)


def are_close(one: Any, other: Any) -> bool:
    return np.allclose(vector_of(one), vector_of(other))
