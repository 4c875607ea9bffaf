"""Derivatives as autograd gives them, in the form that mindtorch.autograd.gradcheck.numerical explains."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch.autograd._engine.engine import grad
from mindtorch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from mindtorch.autograd.gradcheck.arguments import as_tuple, requires_grad
from mindtorch.autograd.gradcheck.errors import GradcheckError, not_reentrant
from mindtorch.autograd.gradcheck.numerical import vector_of
from mindtorch.dispatch import ops

# -------------------- backward --------------------


def backward_jacobians(output: Any, sources: Sequence[Any], tolerance: float) -> list[np.ndarray]:
    """The Jacobian of an output with respect to each input, one column for each of its elements."""
    return _twice(output, sources, list(_units(output)), tolerance)


def backward_products(output: Any, sources: Sequence[Any], weights: Any, tolerance: float) -> list[np.ndarray]:
    """The same Jacobians multiplied by weights of the output's elements."""
    return [matrix[:, 0] for matrix in _twice(output, sources, [weights.reshape(output.shape)], tolerance)]


def _units(like: Any) -> Iterator[Any]:
    for place in range(like.numel()):
        unit = ops.zeros(like.shape, dtype=like.dtype, device=like.device)
        unit.reshape(-1)[place] = 1
        yield unit


def _twice(output: Any, sources: Sequence[Any], weights: list, tolerance: float) -> list[np.ndarray]:
    """Run backward twice, which has to give the same."""
    first, second = (_columns(output, sources, weights) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        if one.size and np.abs(one - other).max() > tolerance:
            raise not_reentrant(tolerance)
    return first


def _columns(output: Any, sources: Sequence[Any], weights: list) -> list[np.ndarray]:
    matrices = [np.zeros((source.numel(), len(weights)), _kind_of(source)) for source in sources]
    for column, weight in enumerate(weights):
        gradients = grad(output, sources, weight, retain_graph=True, allow_unused=True)
        for matrix, gradient in zip(matrices, gradients, strict=True):
            if gradient is not None:
                matrix[:, column] = vector_of(gradient)
    return matrices


def _kind_of(tensor: Any) -> Any:
    return np.complex128 if tensor.is_complex() else np.float64


# -------------------- forward --------------------


class ForwardColumns:
    """The tangents of some outputs of a function, for tangents of one input after the other."""

    def __init__(
        self, function: Callable, arguments: Sequence[Any], outputs: Sequence[int], check_dtypes: bool
    ) -> None:
        self._function = function
        self._arguments = arguments
        self._outputs = outputs
        self._check_dtypes = check_dtypes

    def jacobians(self) -> list[list[np.ndarray]]:
        """For each input that requires grad and each output."""
        sources = [value for value in self._arguments if requires_grad(value)]
        return self._run([list(_units(source)) for source in sources])

    def products(self, directions: Sequence[tuple]) -> list[list[np.ndarray]]:
        """The same Jacobians, each multiplied by a vector from the left."""
        return [[matrix[0] for matrix in own] for own in self._run([[direction[0]] for direction in directions])]

    def _run(self, directions: Sequence[list]) -> list[list[np.ndarray]]:
        with dual_level():
            duals = [_dual(value) if requires_grad(value) else value for value in self._arguments]
            sources = [dual for dual, value in zip(duals, self._arguments, strict=True) if requires_grad(value)]
            return [
                self._rows(duals, unpack_dual(source).tangent, own)
                for source, own in zip(sources, directions, strict=True)
            ]

    def _rows(self, duals: list, tangent: Any, directions: list) -> list[np.ndarray]:
        """One row of each output's Jacobian for each direction. All inputs have a tangent, the others one of zeros."""
        rows = []
        for direction in directions:
            tangent.copy_(direction.reshape(tangent.shape))
            rows.append([vector_of(each) for each in self._tangents(duals)])
        tangent.zero_()
        if not rows:
            return [np.zeros((0, each.numel())) for each in self._tangents(duals)]
        return [np.stack(row) for row in zip(*rows, strict=True)]

    def _tangents(self, duals: list) -> list[Any]:
        outputs = as_tuple(self._function(*duals))
        return [self._tangent(outputs[i]) for i in self._outputs]

    def _tangent(self, output: Any) -> Any:
        primal, tangent = unpack_dual(output)
        if tangent is None:
            return ops.zeros_like(primal)
        if self._check_dtypes and primal.is_complex() != tangent.is_complex():
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        return tangent


def _dual(value: Any) -> Any:
    return make_dual(value.detach(), ops.zeros_like(value))
