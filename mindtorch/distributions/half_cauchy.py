"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import as_tensor
from mindtorch.dispatch import ops
from mindtorch.distributions.cauchy import Cauchy
from mindtorch.distributions.folded import Folded


class HalfCauchy(Folded):
    """The absolute value of a number of a Cauchy distribution around 0."""

    symmetric = Cauchy

    @property
    def mean(self) -> Tensor:
        return ops.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def _log_prob(self, value: Any) -> Tensor:
        return super()._log_prob(as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))
