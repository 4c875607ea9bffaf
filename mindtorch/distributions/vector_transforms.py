"""Transforms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import finfo
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.number_transforms import clipped_sigmoid
from mindtorch.distributions.transform import SameClass
from mindtorch.linalg import cholesky
from mindtorch.nn.functional import logsigmoid, pad, softplus


class SoftmaxTransform(SameClass):
    """Weights from their logarithms; many logarithms give the same weights."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        return _vector(shape)

    inverse_shape = forward_shape


def _vector(shape: Any, less: int = 0) -> Any:
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    return shape[:-1] + (shape[-1] - less,)


class StickBreakingTransform(SameClass):
    """Shares of 1 from numbers: each breaks a part off what is left of a stick."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        z = clipped_sigmoid(x - _rest(x, 1).log())
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        y = y[..., :-1]
        left = ops.clamp(1 - y.cumsum(-1), min=finfo(y.dtype).tiny)
        return y.log() - left.log() + _rest(y, 1).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - _rest(x, 1).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return _vector(shape, -1)

    def inverse_shape(self, shape: Any) -> Any:
        return _vector(shape, 1)


def _rest(x: Any, more: int) -> Any:
    """How many parts are still to come at each place."""
    return x.shape[-1] + more - x.new_ones(x.shape[-1]).cumsum(-1)


class LowerCholeskyTransform(SameClass):
    """Lower triangular matrices with a positive diagonal, from any ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(SameClass):
    """Positive definite matrices, from any ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(SameClass):
    """Cholesky factors of correlation matrices, from the numbers below their diagonals, row by row."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        limit = 1 - finfo(x.dtype).eps
        shares = _below_diagonal(ops.tanh(x).clamp(min=-limit, max=limit))
        left = (1 - shares**2).sqrt().cumprod(-1)
        shares = shares + ops.eye(shares.shape[-1], dtype=shares.dtype, device=shares.device)
        return shares * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = pad((1 - ops.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = _numbers_below(y, -1) / _numbers_below(left, -1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = _numbers_below(1 - (y * y).cumsum(dim=-1), -2)
        return 0.5 * left.log().sum(-1) - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Any) -> Any:
        size = _vector(shape)[-1]
        rows = round((0.25 + 2 * size) ** 0.5 + 0.5)
        if rows * (rows - 1) // 2 != size:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (rows, rows)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


def _below_diagonal(numbers: Any) -> Any:
    """A matrix with the numbers below its diagonal, row by row."""
    rows = round((0.25 + 2 * numbers.shape[-1]) ** 0.5 + 0.5)
    matrix = numbers.new_zeros((*numbers.shape[:-1], rows, rows))
    matrix[..., ops.ones(rows, rows, dtype=boolean, device=matrix.device).tril(-1)] = numbers
    return matrix


def _numbers_below(matrix: Any, diagonal: int) -> Any:
    """The numbers of a matrix up to a diagonal, row by row."""
    return matrix[..., ops.ones(matrix.shape[-2:], dtype=boolean, device=matrix.device).tril(diagonal)]
