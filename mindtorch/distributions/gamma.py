"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import finfo
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import as_tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.utils import broadcast_all


class Gamma(ExponentialFamily):
    """The sum of `concentration` exponential waiting times of a `rate`; the number need not be whole."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = ops._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)  # no zeros; gradients need not know
        return value

    def log_prob(self, value: Any) -> Tensor:
        return super().log_prob(as_tensor(value, dtype=self.rate.dtype, device=self.rate.device))

    def _log_prob(self, value: Any) -> Tensor:
        return (
            ops.xlogy(self.concentration, self.rate)
            + ops.xlogy(self.concentration - 1, value)
            - self.rate * value
            - ops.lgamma(self.concentration)
        )

    def _cdf(self, value: Any) -> Tensor:
        return ops.special_gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape - ops.log(self.rate) + ops.lgamma(shape) + (1.0 - shape) * ops.digamma(shape)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        return ops.lgamma(x + 1) + (x + 1) * ops.log(-y.reciprocal())
