"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.gamma import Gamma
from mindtorch.distributions.utils import ProbsOrLogits, broadcast_all, lazy_property
from mindtorch.nn.functional import logsigmoid


class NegativeBinomial(ProbsOrLogits, Distribution):
    """How many attempts succeed before `total_count` have failed."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._give(probs, logits)
        self.total_count, param = broadcast_all(total_count, self._param)
        self._give(*((None, param) if probs is None else (param, None)))
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * ops.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / ops.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        return Gamma(concentration=self.total_count, rate=ops.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return ops.poisson(self._gamma.sample(sample_shape))

    def _log_prob(self, value: Any) -> Tensor:
        chance = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = ops.lgamma(1.0 + value) + ops.lgamma(self.total_count) - ops.lgamma(self.total_count + value)
        return chance - ways.masked_fill(self.total_count + value == 0.0, 0.0)
