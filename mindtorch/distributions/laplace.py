"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.dtype import finfo
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import broadcast_all


class Laplace(Distribution):
    """An exponential distribution to both sides of `loc`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        low = finfo(self.loc.dtype).eps - 1
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(low, 1)
        return self.loc - self.scale * u.sign() * ops.log1p(-u.abs())

    def _log_prob(self, value: Any) -> Tensor:
        return -ops.log(2 * self.scale) - ops.abs(value - self.loc) / self.scale

    def _cdf(self, value: Any) -> Tensor:
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * ops.expm1(-distance.abs() / self.scale)

    def icdf(self, value: Any) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * ops.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        return 1 + ops.log(2 * self.scale)
