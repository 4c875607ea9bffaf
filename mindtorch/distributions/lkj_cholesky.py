"""The distribution of Lewandowski, Kurowicka and Joe, of factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.dtype import finfo
from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.beta import Beta
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import broadcast_all


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, whose density is a power of the determinant: uniform for 1."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        self._beta = self._lengths()
        super().__init__(self.concentration.size(), (dim, dim), validate_args=validate_args)

    def _lengths(self) -> Beta:
        """How much of the squared length of each row is left of the diagonal."""
        like: dict[str, Any] = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        offset = ops.cat([ops.zeros((1,), **like), ops.arange(self.dim - 1, **like)])
        marginal = self.concentration + 0.5 * (self.dim - 2)
        return Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)

    def _expanded(self, value: Any, batch_shape: Size) -> Any:
        return value.expand((*batch_shape, self.dim)) if value is self._beta else value

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Row by row: a direction, a length, and on the diagonal what is left of a length of 1 (the onion method)."""
        with no_grad():
            squared = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            normal = ops.randn(shape, dtype=squared.dtype, device=squared.device).tril(-1)
            directions = normal / ops.linalg_vector_norm(normal, 2, -1, True)
            directions[..., 0, :].fill_(0.0)  # the first row has no elements left of the diagonal
            factor = ops.sqrt(squared) * directions
            left = (1 - (factor**2).sum(-1)).clamp(min=finfo(factor.dtype).tiny)
            return factor + ops.diag_embed(left.sqrt())

    def _log_prob(self, value: Any) -> Tensor:
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        places = ops.arange(2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - places
        return (powers * diagonal.log()).sum(-1) - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        """Page 1999 of the paper (Journal of Multivariate Analysis 100, 2009)."""
        rows = self.dim - 1
        alpha = self.concentration + 0.5 * rows
        return 0.5 * rows * math.log(math.pi) + ops.mvlgamma(alpha - 0.5, rows) - ops.lgamma(alpha) * rows
