"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.utils import ProbsOrLogits, broadcast_all, clamp_probs, lazy_property, logits_to_probs
from mindtorch.nn.functional import binary_cross_entropy_with_logits


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Numbers from 0 to 1 with the likelihood that the Bernoulli distribution gives to 0 and 1.

    Its formulas divide by `1 - 2 * probs`: for probabilities within `lims`, Taylor series around 1/2 take their place.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._give(probs, logits)
        (param,) = broadcast_all(self._param)
        if probs is None:
            self.logits = param
        else:
            self._check_probs(param, validate_args)
            self.probs = clamp_probs(param)
        self._lims = lims
        super().__init__(param.size(), validate_args=validate_args)

    def _check_probs(self, probs: Tensor, validate_args: bool | None) -> None:
        """They are clamped afterwards, so a check of what is kept would find nothing."""
        if validate_args is not None and not self.arg_constraints["probs"].check(probs).all():
            raise ValueError("The parameter probs has invalid values")

    @lazy_property
    def probs(self) -> Tensor:
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    # -------------------- near one half --------------------

    def _is_outside(self, value: Tensor, center: float = 0.0) -> Tensor:
        """Whether the formulas hold; the series do where they don't."""
        low, high = self._lims
        return ops.maximum(ops.le(value, low - center), ops.gt(value, high - center))

    def _cut_probs(self) -> Tensor:
        """The probabilities for the formulas, with others in the place of those near one half."""
        return ops.where(self._is_outside(self.probs), self.probs, self._lims[0] * ops.ones_like(self.probs))

    def _where_outside(self, formula: Tensor, series: Any) -> Tensor:
        return ops.where(self._is_outside(self.probs), formula, series)

    def _cont_bern_log_norm(self) -> Tensor:
        """The logarithm of the normalizing constant, as a function of `probs`."""
        cut = self._cut_probs()
        below = ops.where(ops.le(cut, 0.5), cut, ops.zeros_like(cut))
        above = ops.where(ops.ge(cut, 0.5), cut, ops.ones_like(cut))
        distance = ops.where(ops.le(cut, 0.5), ops.log1p(-2.0 * below), ops.log(2.0 * above - 1.0))
        formula = ops.log(ops.abs(ops.log1p(-cut) - ops.log(cut))) - distance
        squared = ops.pow(self.probs - 0.5, 2)
        return self._where_outside(formula, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * squared) * squared)

    # -------------------- moments and samples --------------------

    @property
    def mean(self) -> Tensor:
        cut = self._cut_probs()
        formula = cut / (2.0 * cut - 1.0) + 1.0 / (ops.log1p(-cut) - ops.log(cut))
        away = self.probs - 0.5
        return self._where_outside(formula, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * ops.pow(away, 2)) * away)

    @property
    def variance(self) -> Tensor:
        cut = self._cut_probs()
        formula = cut * (cut - 1.0) / ops.pow(1.0 - 2.0 * cut, 2) + 1.0 / ops.pow(ops.log1p(-cut) - ops.log(cut), 2)
        squared = ops.pow(self.probs - 0.5, 2)
        return self._where_outside(formula, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * squared) * squared)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(ops.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    # -------------------- probabilities --------------------

    def _log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def _cdf(self, value: Any) -> Tensor:
        cut = self._cut_probs()
        formula = (ops.pow(cut, value) * ops.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = self._where_outside(formula, value)
        reached = ops.where(ops.ge(value, 1.0), ops.ones_like(value), inside)
        return ops.where(ops.le(value, 0.0), ops.zeros_like(value), reached)

    def icdf(self, value: Any) -> Tensor:
        cut = self._cut_probs()
        rise = ops.log1p(-cut + value * (2.0 * cut - 1.0)) - ops.log1p(-cut)
        return self._where_outside(rise / (ops.log(cut) - ops.log1p(-cut)), value)

    def entropy(self) -> Tensor:
        of_zero, of_one = ops.log1p(-self.probs), ops.log(self.probs)
        return self.mean * (of_zero - of_one) - self._cont_bern_log_norm() - of_zero

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Tensor:
        outside = self._is_outside(x, center=0.5)
        cut = ops.where(outside, x, (self._lims[0] - 0.5) * ops.ones_like(x))
        formula = ops.log(ops.abs(ops.expm1(cut))) - ops.log(ops.abs(cut))
        return ops.where(outside, formula, 0.5 * x + ops.pow(x, 2) / 24.0 - ops.pow(x, 4) / 2880.0)
