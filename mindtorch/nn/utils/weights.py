"""What normalizations of weights have in common."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn.modules.module import Module


def weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """A direction with another length."""
    return v * (g / ops.norm_except_dim(v, 2, dim))


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


def remove_hook(module: Module, kind: type[Any], name: str, text: str) -> Module:
    """Make a weight an ordinary one again: take away the hook of a kind that computes it."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{text} of '{name}' not found in {module}")
