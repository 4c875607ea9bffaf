"""The Wishart distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from mindtorch._core.dtype import finfo
from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch._functions.broadcasting import broadcast_shapes
from mindtorch._functions.creation import tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.chi2 import Chi2
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.multivariate_normal import FACTORS
from mindtorch.distributions.utils import lazy_property
from mindtorch.linalg import slogdet

_TRIES = 10  # to replace singular samples


def _digamma_of_dimensions(x: Tensor, p: int) -> Tensor:
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    return ops.digamma(x.unsqueeze(-1) - ops.arange(p, dtype=x.dtype, device=x.device).div(2)).sum(-1)


class Wishart(ExponentialFamily):
    """The sum of `df` outer products of normal vectors; their covariance is given as such, inverted or as a factor."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = _only_given(scale_tril, covariance_matrix, precision_matrix)
        if isinstance(df, Number):
            self.df = tensor(df, dtype=matrix.dtype, device=matrix.device).expand(matrix.shape[:-2])
        else:
            self.df = df.expand(broadcast_shapes(matrix.shape[:-2], df.shape))
        self._check_df(df, matrix.shape[-1])
        setattr(self, name, matrix.expand((*self.df.shape, -1, -1)))
        super().__init__(self.df.shape, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = FACTORS[name](matrix)
        places = ops.arange(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - places)

    def _check_df(self, given: Any, size: int) -> None:
        if self.df.le(size - 1).any():
            raise ValueError(f"Value of df={given} expected to be greater than ndim - 1 = {size - 1}.")
        if self.df.lt(size).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")

    def _expanded(self, value: Any, batch_shape: Size) -> Any:
        return value.expand(batch_shape + self._event_shape[-1:]) if value is self._dist_chi2 else value

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        return ops.matmul(factor, factor.transpose(-2, -1)).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        identity = ops.eye(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        return ops.cholesky_solve(identity, factor).expand(self._batch_shape + self._event_shape)

    @property
    def mean(self) -> Tensor:
        return self._as_matrices(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        factor[factor <= 0] = math.nan
        return self._as_matrices(factor) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._as_matrices(self.df) * (covariance.pow(2) + products)

    def _as_matrices(self, numbers: Tensor) -> Tensor:
        return numbers.view((*self._batch_shape, 1, 1))

    # -------------------- samples --------------------

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Tensor:
        """Singular samples are replaced, `max_try_correction` times at most.

        The first look takes the regular samples for the singular ones, and replaces them: so does torch, and the
        random numbers are the same.
        """
        sample = self._bartlett_sample(Size(sample_shape))
        is_singular = self._any_of_batch(self.support.check(sample))
        if not is_singular.any():
            return sample
        warn("Singular sample detected.")
        for _ in range(_TRIES if max_try_correction is None else max_try_correction):
            new = self._bartlett_sample(is_singular[is_singular].shape)
            sample[is_singular] = new
            is_singular[is_singular.clone()] = self._any_of_batch(~self.support.check(new))
            if not is_singular.any():
                break
        return sample

    def _any_of_batch(self, flags: Tensor) -> Tensor:
        """Whether it is so for any of the batch, by sample."""
        return flags.amax(tuple(range(-len(self._batch_shape), 0))) if self._batch_shape else flags

    def _bartlett_sample(self, sample_shape: Any) -> Tensor:
        """The covariance of a factor times a random factor: chi-distributed on the diagonal, normal below it."""
        size = self._event_shape[-1]
        lengths = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = lengths.clamp(min=finfo(lengths.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        rows, columns = ops.tril_indices(size, size, offset=-1, device=lengths.device).unbind()
        shape = (*sample_shape, *self._batch_shape, size * (size - 1) // 2)
        noise[..., rows, columns] = ops.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = ops.matmul(self._unbroadcasted_scale_tril, noise)
        return ops.matmul(factor, factor.transpose(-2, -1))

    # -------------------- probabilities --------------------

    def _log_volume(self) -> Tensor:
        """Half the logarithm of the determinant of twice the covariance."""
        diagonal = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1)
        return self._event_shape[-1] * math.log(2) / 2 + diagonal.log().sum(-1)

    def _log_prob(self, value: Any) -> Tensor:
        df, size = self.df, self._event_shape[-1]
        solved = ops.cholesky_solve(value, self._unbroadcasted_scale_tril)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        logs = (df - size - 1) / 2 * slogdet(value).logabsdet
        return -df * self._log_volume() - ops.mvlgamma(df / 2, size) + logs - trace / 2

    def entropy(self) -> Tensor:
        df, size = self.df, self._event_shape[-1]
        slope = (df - size - 1) / 2 * _digamma_of_dimensions(df / 2, size)
        return (size + 1) * self._log_volume() + ops.mvlgamma(df / 2, size) - slope + df * size / 2

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        size = self._event_shape[-1]
        half = y + (size + 1) / 2
        return half * (-slogdet(-2 * x).logabsdet + math.log(2) * size) + ops.mvlgamma(half, size)


def _only_given(*matrices: Tensor | None) -> tuple[str, Tensor]:
    """The one matrix that was given, and its name."""
    given = [(name, matrix) for name, matrix in zip(FACTORS, matrices) if matrix is not None]
    if len(given) != 1:
        raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    ((name, matrix),) = given
    if matrix.dim() < 2:
        raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
    return name, matrix
