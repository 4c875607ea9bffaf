"""Mixtures of distributions of one kind."""

from __future__ import annotations

from typing import Any

from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.categorical import Categorical
from mindtorch.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """A component, drawn from a categorical distribution, gives the sample. Components are the last batch dimension."""

    arg_constraints: Any = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        _check(mixture_distribution, component_distribution)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = mixture_distribution.logits.shape[-1]
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(component_distribution.batch_shape[:-1], event, validate_args=validate_args)

    def _expanded(self, value: Any, batch_shape: Size) -> Any:
        if value is self._component_distribution:
            return value.expand(batch_shape + (self._num_component,))
        return super()._expanded(value, batch_shape)

    @constraints.dependent_property
    def support(self) -> constraints.Constraint:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        return self._component_distribution

    @property
    def _weights(self) -> Tensor:
        """The probabilities of the components, with room for the events."""
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _averaged(self, values: Tensor) -> Tensor:
        return ops.sum(self._weights * values, dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._averaged(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        away = self.component_distribution.mean - self._padded(self.mean)
        return self._averaged(self.component_distribution.variance) + self._averaged(away.pow(2.0))

    def _padded(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - self._event_ndims)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            places = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            places = places.repeat((1,) * len(chosen.shape) + (1, *self.event_shape))
            return ops.gather(samples, len(chosen.shape), places).squeeze(len(chosen.shape))

    def _log_prob(self, value: Any) -> Tensor:
        log_probs = self.component_distribution.log_prob(self._padded(value))
        weights = ops.log_softmax(self.mixture_distribution.logits, dim=-1)
        return ops.logsumexp(log_probs + weights, dim=-1)

    def cdf(self, x: Any) -> Tensor:
        reached = self.component_distribution.cdf(self._padded(x))
        return ops.sum(reached * self.mixture_distribution.probs, dim=-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


def _check(mixture: Any, component: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
    if not isinstance(component, Distribution):
        raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
    weights, batch = mixture.batch_shape, component.batch_shape[:-1]
    if any(1 not in pair and pair[0] != pair[1] for pair in zip(reversed(weights), reversed(batch))):
        raise ValueError(
            f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
            f"`component_distribution.batch_shape`({batch})"
        )
    counts = mixture.logits.shape[-1], component.batch_shape[-1]
    if counts[0] != counts[1]:
        raise ValueError(
            f"`mixture_distribution component` ({counts[0]}) does not equal `component_distribution.batch_shape[-1]` "
            f"({counts[1]})"
        )
