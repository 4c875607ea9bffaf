"""The F distribution of Fisher and Snedecor."""

from __future__ import annotations

from math import nan
from typing import Any

from mindtorch._core.dtype import finfo
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.gamma import Gamma
from mindtorch.distributions.utils import broadcast_all


class FisherSnedecor(Distribution):
    """The quotient of two estimates of a variance."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        df2 = self.df2.clone()
        df2[df2 <= 2] = nan
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = nan
        return mode

    @property
    def variance(self) -> Tensor:
        df2 = self.df2.clone()
        df2[df2 <= 4] = nan
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        above, below = self._gamma1.rsample(sample_shape).view(shape), self._gamma2.rsample(sample_shape).view(shape)
        tiny = finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        return (above / below).clamp_(min=tiny)

    def _log_prob(self, value: Any) -> Tensor:
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        normalizer = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        powers = half1 * ratio.log() + (half1 - 1) * ops.log(value)
        return normalizer + powers - (half1 + half2) * ops.log1p(ratio * value)
