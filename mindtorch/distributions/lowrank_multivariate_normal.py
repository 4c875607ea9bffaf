"""The multivariate normal distribution with a covariance of low rank, and a diagonal."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functions.broadcasting import broadcast_tensors
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.multivariate_normal import batch_mahalanobis, batch_times
from mindtorch.distributions.utils import standard_normal
from mindtorch.linalg import cholesky, solve_triangular


def scaled_transpose(factor: Tensor, diagonal: Tensor) -> Tensor:
    """W^T D^-1."""
    return factor.mT / diagonal.unsqueeze(-2)


def _plus_identity(matrix: Tensor) -> Tensor:
    return matrix + ops.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


class LowRankMultivariateNormal(Distribution):
    """A normal vector with the covariance `W W^T + D`.

    Its inverse and determinant follow from those of the small capacitance matrix `I + W^T D^-1 W` (Woodbury's identity
    and the determinant lemma), of which the Cholesky factor is kept.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        _check_shapes(loc, cov_factor, cov_diag)
        self.loc, self.cov_factor, self.cov_diag = _broadcast(loc, cov_factor, cov_diag)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = cholesky(
            _plus_identity(ops.matmul(scaled_transpose(cov_factor, cov_diag), cov_factor))
        )
        super().__init__(self.loc.shape[:-1], self.loc.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance, by way of `I + D^-1/2 W W^T D^-1/2`, which is well-conditioned."""
        deviations = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / deviations
        return self._as_matrix(deviations * cholesky(_plus_identity(ops.matmul(scaled, scaled.mT))))

    @property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_cov_factor
        return self._as_matrix(ops.matmul(factor, factor.mT) + ops.diag_embed(self._unbroadcasted_cov_diag))

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        factor = self.whitened()
        inverse = ops.diag_embed(self._unbroadcasted_cov_diag.reciprocal())
        return self._as_matrix(inverse - ops.matmul(factor.mT, factor))

    def _as_matrix(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    def whitened(self) -> Tensor:
        """A factor A of what the low rank takes off the precision: D^-1 - A^T A."""
        scaled = scaled_transpose(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag)
        return solve_triangular(self._capacitance_tril, scaled, upper=False)

    def log_determinant(self) -> Tensor:
        """Of the covariance."""
        of_capacitance = 2 * self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return of_capacitance + self._unbroadcasted_cov_diag.log().sum(-1)

    def squared_distance(self, difference: Tensor) -> Tensor:
        """The squared length of a difference, measured in standard deviations along each direction."""
        diagonal = self._unbroadcasted_cov_diag
        projected = batch_times(scaled_transpose(self._unbroadcasted_cov_factor, diagonal), difference)
        return (difference.pow(2) / diagonal).sum(-1) - batch_mahalanobis(self._capacitance_tril, projected)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        of_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        of_diagonal = standard_normal(shape, self.loc)
        low_rank = batch_times(self._unbroadcasted_cov_factor, of_factor)
        return self.loc + low_rank + self._unbroadcasted_cov_diag.sqrt() * of_diagonal

    def _log_prob(self, value: Any) -> Tensor:
        squared = self.squared_distance(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self.log_determinant() + squared)

    def entropy(self) -> Tensor:
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self.log_determinant())
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def _check_shapes(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    event_shape = loc.shape[-1:]
    if cov_factor.dim() < 2:
        raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
    if cov_factor.shape[-2:-1] != event_shape:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
    if cov_diag.shape[-1:] != event_shape:
        raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")


def _broadcast(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The parameters of the whole batch."""
    try:
        columns = broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
    except RuntimeError as error:
        raise ValueError(
            f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
        ) from error
    return columns[0][..., 0], columns[1], columns[2][..., 0]
