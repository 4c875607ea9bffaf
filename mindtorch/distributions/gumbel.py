"""The Gumbel distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from mindtorch._core.dtype import finfo
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.transforms import AffineTransform, ExpTransform
from mindtorch.distributions.uniform import Uniform
from mindtorch.distributions.utils import broadcast_all, euler_constant


class Gumbel(TransformedDistribution):
    """The largest of many exponential numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        low, high = limits.tiny, 1 - limits.eps
        if isinstance(loc, Number) and isinstance(scale, Number):
            base = Uniform(low, high, validate_args=validate_args)
        else:
            bounds = ops.full_like(self.loc, low), ops.full_like(self.loc, high)
            base = Uniform(*bounds, validate_args=validate_args)
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-ops.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _log_prob(self, value: Any) -> Tensor:
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
