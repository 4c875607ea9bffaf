"""The binomial distribution."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import ProbsOrLogits, broadcast_all


def _clamp_below(values: Tensor) -> Tensor:
    """Positive values, with a gradient of 1/2 at 0, where `clamp` has 1."""
    return (values.clamp(min=0) + values - values.clamp(max=0)) / 2


class Binomial(ProbsOrLogits, Distribution):
    """How many of `total_count` attempts succeed."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._give(probs, logits)
        self.total_count, param = broadcast_all(total_count, self._param)
        self._give(*((None, param) if probs is None else (param, None)))
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return ops.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def _log_prob(self, value: Any) -> Tensor:
        misses = self.total_count - value
        ways = ops.lgamma(self.total_count + 1) - ops.lgamma(value + 1) - ops.lgamma(misses + 1)
        normalizer = self.total_count * _clamp_below(self.logits) + self.total_count * ops.log1p(
            ops.exp(-ops.abs(self.logits))
        )
        return value * self.logits - normalizer + ways

    def entropy(self) -> Tensor:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(ops.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = ops.arange(1 + total, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
