"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.utils import broadcast_all, standard_normal


class Normal(ExponentialFamily):
    """The bell around `loc`, with the standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

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
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return ops.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.loc + standard_normal(self._extended_shape(sample_shape), self.loc) * self.scale

    def _log_prob(self, value: Any) -> Tensor:
        squares = -((value - self.loc) ** 2) / (2 * self.scale**2)
        return squares - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def _cdf(self, value: Any) -> Tensor:
        return 0.5 * (1 + ops.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Any) -> Tensor:
        return self.loc + self.scale * ops.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + ops.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * ops.log(-math.pi / y)
