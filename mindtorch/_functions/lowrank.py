"""Decompositions of low rank: a few singular values and vectors of a large matrix, found with random vectors."""

from __future__ import annotations

from typing import Any

from mindtorch._core import state
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

Parts = tuple[Tensor, Tensor, Tensor]


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> Parts:
    """About the `q` largest singular values of A, or of A - M, with their vectors: U, S and V."""
    rank, steps = 6 if q is None else q, 2 if niter is None else niter
    matrix = A if M is None else A - M.broadcast_to(A.shape)
    is_wide = A.shape[-2] < A.shape[-1]
    tall = _adjoint(matrix) if is_wide else matrix
    basis = _range_of(tall, rank, steps)
    U, S, Vh = ops.linalg_svd(_adjoint(basis).matmul(tall), False)
    U, V = basis.matmul(U), _adjoint(Vh)
    return (V, S, U) if is_wide else (U, S, V)


def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Parts:
    """The principal components of rows, whose mean is subtracted first if `center`."""
    rows, columns = A.shape[-2:]
    least = min(rows, columns)
    if q is None:
        q = min(6, least)
    elif not 0 <= q <= least:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def _range_of(matrix: Tensor, rank: int, steps: int) -> Tensor:
    """Orthonormal vectors for most of what the matrix maps to: random ones, mapped there, back and there again."""
    found = _orthonormal(matrix.matmul(ops.randn((matrix.shape[-1], rank), dtype=_inexact(matrix))))
    for _ in range(steps):
        found = _orthonormal(_adjoint(matrix).matmul(found))
        found = _orthonormal(matrix.matmul(found))
    return found


def _orthonormal(vectors: Tensor) -> Tensor:
    return ops.linalg_qr(vectors)[0]


def _adjoint(matrix: Tensor) -> Tensor:
    return matrix.transpose(-2, -1).conj()


def _inexact(matrix: Tensor) -> Dtype:
    is_inexact = matrix.is_floating_point() or matrix.is_complex()
    return matrix.dtype if is_inexact else state.default_dtype
