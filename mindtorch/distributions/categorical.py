"""The categorical distribution."""

from __future__ import annotations

from math import nan
from typing import Any

from mindtorch._core.dtype import finfo, int64
from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch._functions.broadcasting import broadcast_tensors
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import ProbsOrLogits


class Categorical(ProbsOrLogits, Distribution):
    """The number of a class, by the probabilities of the classes or by their logarithms."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._give(probs, logits)
        if self._param.dim() < 1:
            name = "probs" if logits is None else "logits"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        elif logits is not None:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @property
    def _num_events(self) -> int:
        return self._param.size(-1)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return ops.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def sample(self, sample_shape: Any = ()) -> Tensor:
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        return ops.multinomial(rows, sample_shape.numel(), True).T.reshape(self._extended_shape(sample_shape))

    def _log_prob(self, value: Any) -> Tensor:
        value, log_probs = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return log_probs.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = ops.clamp(self.logits, min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = ops.arange(self._num_events, dtype=int64, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
