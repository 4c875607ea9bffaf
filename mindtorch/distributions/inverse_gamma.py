"""The inverse gamma distribution."""

from __future__ import annotations

from math import inf
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.gamma import Gamma
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.transforms import PowerTransform


class InverseGamma(TransformedDistribution):
    """The reciprocal of a number of a gamma distribution."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        result = self.rate / (self.concentration - 1)
        return ops.where(self.concentration > 1, result, inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        result = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return ops.where(self.concentration > 2, result, inf)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape + self.rate.log() + shape.lgamma() - (1 + shape) * shape.digamma()
