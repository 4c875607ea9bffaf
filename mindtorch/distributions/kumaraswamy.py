"""The Kumaraswamy distribution."""

from __future__ import annotations

from math import nan
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.transforms import AffineTransform, PowerTransform
from mindtorch.distributions.uniform import Uniform
from mindtorch.distributions.utils import broadcast_all, euler_constant


def _moment(a: Tensor, b: Tensor, order: int) -> Tensor:
    """The mean of a power of the samples."""
    share = 1 + order / a
    return ops.exp(b.log() + ops.lgamma(share) + ops.lgamma(b) - ops.lgamma(share + b))


class Kumaraswamy(TransformedDistribution):
    """A share of 1 like that of a beta distribution, with a distribution function in closed form."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        zeros, ones = ops.full_like(self.concentration0, 0), ops.full_like(self.concentration0, 1)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(Uniform(zeros, ones, validate_args=validate_args), transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * (-b).log1p() - (-a * b).log1p()
        log_mode[(b < 1) | (a < 1)] = nan
        return log_mode.exp()

    @property
    def variance(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = ops.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - ops.log(a) - ops.log(b)
