"""The Bernoulli distribution."""

from __future__ import annotations

from math import nan
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.utils import ProbsOrLogits, broadcast_all
from mindtorch.nn.functional import binary_cross_entropy_with_logits


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with a probability, given as such or as log odds; otherwise 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._give(probs, logits)
        (param,) = broadcast_all(self._param)
        self._give(*((None, param) if probs is None else (param, None)))
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = nan
        return mode

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return ops.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = ops.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (ops.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Tensor:
        return ops.log1p(ops.exp(x))
