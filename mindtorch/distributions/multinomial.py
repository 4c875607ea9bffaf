"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch._functions.broadcasting import broadcast_tensors
from mindtorch._functions.creation import tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.binomial import Binomial
from mindtorch.distributions.categorical import Categorical
from mindtorch.distributions.distribution import Distribution


class Multinomial(Distribution):
    """How often each class is drawn in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args=validate_args)

    def _expanded(self, value: Any, batch_shape: Any) -> Any:
        """The binomial distribution of each class stays as it is: only its support is asked for."""
        return value if value is self._binomial else super()._expanded(value, batch_shape)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> constraints.Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Tensor:
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        sample_shape = Size(sample_shape)
        draws = self._categorical.sample(Size((self.total_count,)) + sample_shape)
        draws = draws.movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, draws, ops.ones_like(draws).type_as(counts))
        return counts

    def _log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast_tensors(self.logits, value)
        logits = logits.clone(memory_format=None)
        ways = ops.lgamma(value.sum(-1) + 1) - ops.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -float("inf"))] = 0
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        total = tensor(self.total_count)
        own = self._categorical.entropy()
        values = self._binomial.enumerate_support(expand=False)[1:]
        weights = ops.exp(self._binomial.log_prob(values))
        return total * own - ops.lgamma(total + 1) + (weights * ops.lgamma(values + 1)).sum([0, -1])
