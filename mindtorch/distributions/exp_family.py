"""Exponential families: distributions whose log density is linear in natural parameters."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd import grad
from mindtorch.autograd.grad_mode import enable_grad
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import sum_rightmost


class ExponentialFamily(Distribution):
    """Entropy and divergence follow from the normalizer, by its gradient (a Bregman divergence)."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        parameters, normalizer, slopes = self._differentiated()
        result = -self._mean_carrier_measure + normalizer
        for parameter, slope in zip(parameters, slopes):
            result = result - sum_rightmost(parameter * slope, len(self._event_shape))
        return result

    def _differentiated(self) -> tuple[tuple[Tensor, ...], Tensor, tuple[Tensor, ...]]:
        """The natural parameters, the normalizer and its gradient."""
        with enable_grad():
            parameters = tuple(parameter.detach().requires_grad_() for parameter in self._natural_params)
            normalizer = self._log_normalizer(*parameters)
            slopes = grad(normalizer.sum(), parameters, create_graph=True)
        return parameters, normalizer, slopes
