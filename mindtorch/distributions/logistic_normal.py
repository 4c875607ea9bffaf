"""The logistic-normal distribution."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.distributions import constraints
from mindtorch.distributions.normal import Normal
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.transforms import StickBreakingTransform


class LogisticNormal(TransformedDistribution):
    """Shares of 1 from normal numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.base_dist.scale
