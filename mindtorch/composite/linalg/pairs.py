"""Distances of all pairs of rows of one matrix."""

from __future__ import annotations

from mindtorch._core.autograd_meta import takes_part
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.formulas.linalg.linalg import differences_of_rows, pairs_of_rows
from mindtorch.dispatch import ops


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The rows 0 and 1, 0 and 2, ..., 1 and 2, ...; a distance of 0 has the gradient 0."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return ops._pdist_forward(input.contiguous(), p)


def pdist_forward(input: Tensor, p: float = 2.0) -> Tensor:
    count = input.size(0)
    if count < 2:
        return input.new_empty(0) if not takes_part(input) else input.flatten()[:0]
    if input.element_size() == 2:
        raise NotImplementedError(f"\"pdist\" not implemented for '{input.dtype.storage_name}'")
    first, second = pairs_of_rows(input)
    return norms_of(input.index_select(0, first) - input.index_select(0, second), p)


def norms_of(differences: Tensor, p: float) -> Tensor:
    """The norms of rows. The number of elements that are not 0 has the gradient 0 here, and not none."""
    norms = ops.linalg_vector_norm(differences, p, [-1])
    if p != 0:
        return norms
    return ops.where(ops.zeros_like(norms, dtype=boolean), differences.sum(-1), norms.detach())


def cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    return norms_of(differences_of_rows(x1, x2), p)
