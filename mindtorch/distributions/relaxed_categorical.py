"""One-hot vectors that gradients pass through."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.categorical import Categorical
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.transforms import ExpTransform
from mindtorch.distributions.utils import broadcast_all, clamp_probs


class ExpRelaxedCategorical(Distribution):
    """The logarithms of a relaxed one-hot vector."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args=validate_args)

    @property
    def param_shape(self) -> Any:
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        return self._categorical.probs

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        uniforms = clamp_probs(ops.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-(uniforms.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def _log_prob(self, value: Any) -> Tensor:
        count = self.param_shape[-1]
        logits, value = broadcast_all(self.logits, value)
        scale = ops.full_like(self.temperature, float(count)).lgamma() - self.temperature.log().mul(-(count - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares of 1 that are the closer to a one-hot vector, the lower the temperature."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Tensor:
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs
