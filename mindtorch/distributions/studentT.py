"""Student's t distribution."""

from __future__ import annotations

import math
from math import inf, nan
from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.chi2 import Chi2
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import broadcast_all, standard_normal


class StudentT(Distribution):
    """A normal number, divided by what `df` other ones estimate its deviation to be."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        mean = self.loc.clone(memory_format=contiguous_format)
        mean[self.df <= 1] = nan
        return mean

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance = self.df.clone(memory_format=contiguous_format)
        finite = self.df > 2
        variance[finite] = self.scale[finite].pow(2) * self.df[finite] / (self.df[finite] - 2)
        variance[(self.df <= 2) & (self.df > 1)] = inf
        variance[self.df <= 1] = nan
        return variance

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = standard_normal(self._extended_shape(sample_shape), self.df)
        estimate = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (noise * ops.rsqrt(estimate / self.df))

    def _log_prob(self, value: Any) -> Tensor:
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + ops.lgamma(0.5 * self.df)
            - ops.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * ops.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        half, above = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = ops.lgamma(half) + math.lgamma(0.5) - ops.lgamma(above)
        return self.scale.log() + above * (ops.digamma(above) - ops.digamma(half)) + 0.5 * self.df.log() + log_beta
