"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functions.broadcasting import broadcast_shapes
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import lazy_property, standard_normal
from mindtorch.linalg import cholesky, solve_triangular


def batch_times(matrix: Tensor, vector: Tensor) -> Tensor:
    """Matrices times vectors."""
    return ops.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(scale_tril: Tensor, difference: Tensor) -> Tensor:
    """The squared length of a difference, measured in standard deviations along each direction."""
    return solve_triangular(scale_tril, difference.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    reversed_factor = cholesky(precision.flip((-2, -1)))
    inverse = reversed_factor.flip((-2, -1)).transpose(-2, -1)
    identity = ops.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return solve_triangular(inverse, identity, upper=False)


class MultivariateNormal(Distribution):
    """A normal vector, with a covariance that is given as such, inverted or as a Cholesky factor."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = _only_given(scale_tril, covariance_matrix, precision_matrix)
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = FACTORS[name](matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        return ops.matmul(factor, factor.mT).expand(self._matrix_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return ops.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape)

    @property
    def _matrix_shape(self) -> Any:
        return self._batch_shape + self._event_shape + self._event_shape

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + batch_times(self._unbroadcasted_scale_tril, noise)

    def _half_log_determinant(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def _log_prob(self, value: Any) -> Tensor:
        squared = batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squared) - self._half_log_determinant()

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_determinant()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


# How a factor is made of each spelling of the covariance.
FACTORS: dict[str, Any] = {
    "scale_tril": lambda matrix: matrix,
    "covariance_matrix": cholesky,
    "precision_matrix": _precision_to_scale_tril,
}


def _only_given(*matrices: Tensor | None) -> tuple[str, Tensor]:
    """The one matrix that was given, and its name."""
    given = [(name, matrix) for name, matrix in zip(FACTORS, matrices) if matrix is not None]
    if len(given) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    ((name, matrix),) = given
    if matrix.dim() < 2:
        what = "scale_tril matrix" if name == "scale_tril" else name
        raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
    return name, matrix
