"""The generalized Pareto distribution."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functions.comparison import isclose
from mindtorch._functions.creation import tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import broadcast_all


class GeneralizedPareto(Distribution):
    """What exceeds a threshold `loc`: a power for a positive concentration, exponential for 0, bounded below that."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, ops.where(self.concentration < 0, end, inf))

    @property
    def mean(self) -> Tensor:
        exists = self.concentration < 1
        concentration = ops.where(exists, self.concentration, 0.5)
        return ops.where(exists, self.loc + self.scale / (1 - concentration), nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        exists = self.concentration < 0.5
        concentration = ops.where(exists, self.concentration, 0.25)
        variance = self.scale**2 / ((1 - concentration) ** 2 * (1 - 2 * concentration))
        return ops.where(exists, variance, nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(ops.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _split(self, zero: Tensor) -> tuple[Tensor, Tensor]:
        """Where the concentration is zero, and the concentrations with ones in those places."""
        is_zero = isclose(self.concentration, zero)
        return is_zero, ops.where(is_zero, ops.ones_like(self.concentration), self.concentration)

    def _scaled(self, value: Any) -> Tensor:
        return (value - self.loc) / self.scale

    def _log_prob(self, value: Any) -> Tensor:
        scaled = self._scaled(value)
        is_zero, concentration = self._split(tensor(0.0))
        power = 1 / concentration + ops.ones_like(scaled)
        falling = ops.where(power == 0, power, power * ops.log1p(concentration * scaled))
        return -self.scale.log() - ops.where(is_zero, scaled, falling)

    def log_survival_function(self, value: Any) -> Tensor:
        """The logarithm of the probability of a number above a value."""
        if self._validate_args:
            self._validate_sample(value)
        scaled = self._scaled(value)
        is_zero, concentration = self._split(tensor(0.0))
        return ops.where(is_zero, -scaled, -ops.log1p(concentration * scaled) / concentration)

    def log_cdf(self, value: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return ops.log1p(-ops.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Tensor:
        return ops.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Tensor:
        is_zero, concentration = self._split(ops.zeros_like(self.concentration))
        log_above = ops.log1p(-value)
        power = self.loc + self.scale / concentration * ops.expm1(-concentration * log_above)
        return ops.where(is_zero, self.loc - self.scale * log_above, power)

    def entropy(self) -> Tensor:
        return ops.broadcast_to(ops.log(self.scale) + self.concentration + 1, self._batch_shape)
