"""The half-normal distribution."""

from __future__ import annotations

import math

from mindtorch._core.tensor import Tensor
from mindtorch.distributions.folded import Folded
from mindtorch.distributions.normal import Normal


class HalfNormal(Folded):
    """The absolute value of a normal number around 0."""

    symmetric = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
