"""What normalizations of weights have in common."""

from __future__ import annotations

from mindtorch.dispatch import ops
from mindtorch.tensor import Tensor


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms over all dimensions but one, or with -1 over all."""
    if dim == -1:
        return v.norm(pow)
    if dim == 0:
        return v.contiguous().view(v.size(0), -1).norm(pow, 1).view(v.size(0), *[1] * (v.dim() - 1))
    if dim == v.dim() - 1:
        return v.contiguous().view(-1, v.size(-1)).norm(pow, 0).view(*[1] * (v.dim() - 1), v.size(-1))
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """A direction with another length."""
    return v * (g / norm_except_dim(v, 2, dim))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix, with one of its dimensions first."""
    if dim != 0:
        weight = weight.permute(dim, *(other for other in range(weight.dim()) if other != dim))
    return weight.reshape(weight.size(0), -1)


def householder_product(columns: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflections, each along what a column has below the diagonal, with 1 on it."""
    rows, count = columns.size(-2), columns.size(-1)
    identity = ops.eye(rows, count, dtype=columns.dtype, device=columns.device)
    axes = columns.tril(-1) + identity
    product = identity.expand(columns.shape)
    for number in reversed(range(count)):
        axis = axes[..., number : number + 1]
        product = product - tau[..., number : number + 1, None] * axis * (axis.mH @ product)
    return product.mT.contiguous().mT  # column by column, as LAPACK gives it
