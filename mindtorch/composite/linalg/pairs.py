"""Distances of all pairs of rows of one matrix."""

from __future__ import annotations

from mindtorch._core.autograd_meta import takes_part
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.fast_path import has_bare_array
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


def euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """The distances of all rows by one product, |a|^2 - 2ab + |b|^2, which is less exact for rows that are near."""
    squares, other_squares = [each.pow(2).sum(-1, True) for each in (x1, x2)]
    left = ops.cat([x1 * -2, squares, ops.ones_like(squares)], -1)
    right = ops.cat([x2, ops.ones_like(other_squares), other_squares], -1)
    squared = left.matmul(right.mT).clamp_min(0)
    distances = squared.sqrt()
    # The tangent of a distance of 0 is 0, as its gradient is; the square root's would be NaN.
    return distances if has_bare_array(x1) else distances.masked_fill(squared == 0, 0)


def cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    return norms_of(differences_of_rows(x1, x2), p)
