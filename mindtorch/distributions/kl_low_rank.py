"""Divergences of normal vectors of which one or both have a covariance of low rank."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions.kl import register_kl
from mindtorch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from mindtorch.distributions.multivariate_normal import MultivariateNormal, batch_mahalanobis
from mindtorch.linalg import solve_triangular


def _check_shapes(p: Any, q: Any, which: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {which} Multivariate Normals with{' ' * 26}different event shapes cannot be "
            "computed"
        )


def _squares(matrix: Tensor) -> Tensor:
    """The trace of a matrix times its transpose."""
    return matrix.pow(2).sum((-2, -1))


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p: Any, q: Any) -> Tensor:
    _check_shapes(p, q, "Low Rank")
    factor, diagonal = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag
    other, whitened = q._unbroadcasted_cov_diag, q.whitened()
    kept = (diagonal / other).sum(-1) + _squares(factor * other.rsqrt().unsqueeze(-1))
    taken = _squares(whitened * diagonal.sqrt().unsqueeze(-2)) + _squares(ops.matmul(whitened, factor))
    logs = q.log_determinant() - p.log_determinant()
    return 0.5 * (logs + kept - taken + q.squared_distance(q.loc - p.loc) - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _full_to_low_rank(p: Any, q: Any) -> Tensor:
    _check_shapes(p, q, "(Low Rank)")
    factor = p._unbroadcasted_scale_tril
    kept = _squares(factor * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1))
    taken = _squares(ops.matmul(q.whitened(), factor))
    logs = q.log_determinant() - 2 * p._half_log_determinant()
    return 0.5 * (logs + kept - taken + q.squared_distance(q.loc - p.loc) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_to_full(p: Any, q: Any) -> Tensor:
    _check_shapes(p, q, "(Low Rank)")
    factor, diagonal = p._unbroadcasted_cov_factor, ops.diag_embed(p._unbroadcasted_cov_diag.sqrt())
    other = q._unbroadcasted_scale_tril
    trace = _squares(solve_triangular(other, factor, upper=False))
    trace = trace + _squares(solve_triangular(other, diagonal, upper=False))
    logs = 2 * q._half_log_determinant() - p.log_determinant()
    return 0.5 * (logs + trace + batch_mahalanobis(other, q.loc - p.loc) - p.event_shape[0])
