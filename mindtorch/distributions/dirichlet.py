"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.function import Function
from mindtorch.autograd.once_differentiable import once_differentiable
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.nn.functional import one_hot


class _Dirichlet(Function):
    """Draws shares of 1, and knows how they move with the concentrations."""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Tensor:
        shares = ops._sample_dirichlet(concentration)
        ctx.save_for_backward(shares, concentration)
        return shares

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Any) -> Tensor:
        shares, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = ops._dirichlet_grad(shares, concentration, total)
        return slope * (grad_output - (shares * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Shares that add up to 1."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Any) -> Tensor:
        return (
            ops.xlogy(self.concentration - 1.0, value).sum(-1)
            + ops.lgamma(self.concentration.sum(-1))
            - ops.lgamma(self.concentration).sum(-1)
        )

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corners = (self.concentration < 1).all(dim=-1)
        mode[corners] = one_hot(mode[corners].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        count, total = self.concentration.size(-1), self.concentration.sum(-1)
        return (
            ops.lgamma(self.concentration).sum(-1)
            - ops.lgamma(total)
            - (count - total) * ops.digamma(total)
            - ((self.concentration - 1.0) * ops.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Tensor:
        return x.lgamma().sum(-1) - ops.lgamma(x.sum(-1))
