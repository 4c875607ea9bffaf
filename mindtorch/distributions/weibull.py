"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.exponential import Exponential
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.transforms import AffineTransform, PowerTransform
from mindtorch.distributions.utils import broadcast_all, euler_constant


class Weibull(TransformedDistribution):
    """The waiting time until an event whose rate changes like a power of the time."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ops.ones_like(self.scale), validate_args=validate_args)
        power = PowerTransform(exponent=self.concentration_reciprocal)
        super().__init__(base, [power, AffineTransform(loc=0, scale=self.scale)], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.concentration_reciprocal = new.concentration.reciprocal()
        return new

    @property
    def mean(self) -> Tensor:
        return self.scale * ops.exp(ops.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Tensor:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        second = ops.exp(ops.lgamma(1 + 2 * self.concentration_reciprocal))
        return self.scale.pow(2) * (second - ops.exp(2 * ops.lgamma(1 + self.concentration_reciprocal)))

    def entropy(self) -> Tensor:
        return (
            euler_constant * (1 - self.concentration_reciprocal)
            + ops.log(self.scale * self.concentration_reciprocal)
            + 1
        )
