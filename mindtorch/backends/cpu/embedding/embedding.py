"""Kernels of embedding: rows of a table looked up, and gradients added up for each row."""

from __future__ import annotations

import numpy as np

from mindtorch._core import aligned
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import is_within
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.precision import deliver, widen

scipy_sparse = lazy("scipy.sparse")


# -------------------- embedding --------------------


def embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse):
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    checks.expect_indices(indices, "indices", "embedding")
    aligned.check_fits((*indices.shape, weight.shape[1]), weight.dtype)
    if not is_within(indices, 0, weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight.take(indices, axis=0, mode="clip")


def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    checks.expect_indices(indices, "indices", "embedding_backward")
    rows = indices.reshape(-1)
    width = grad_output.shape[-1] if grad_output.ndim else 1
    if grad_output.size != rows.size * width:
        raise RuntimeError(f"shape '{[rows.size, width]}' is invalid for input of size {grad_output.size}")
    if num_weights < 0:
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    grad = widen(grad_output).reshape(rows.size, width)
    share = np.ones(rows.size, grad.dtype)
    if scale_grad_by_freq:
        share /= np.bincount(rows, minlength=num_weights)[rows]
    if padding_idx >= 0:
        share[rows == padding_idx] = 0
        grad = np.where((rows == padding_idx)[:, None], 0, grad)  # NaN times 0 would not be 0
    if rows.size and rows.view(f"u{rows.itemsize}").max() >= num_weights:  # negative ones are the largest there
        there = (rows >= 0) & (rows < num_weights)  # the product would write anywhere: torch leaves the others out
        grad, rows, share = grad[there], rows[there], share[there]
    return deliver(_sum_rows(grad, rows, share, num_weights), grad_output)


def _sum_rows(grad: np.ndarray, rows: np.ndarray, share: np.ndarray, count: int) -> np.ndarray:
    """Each row of grad, times its share, added to its row of the result: a product with a sparse matrix."""
    places = scipy_sparse.csc_array((share, rows, np.arange(rows.size + 1)), shape=(count, rows.size))
    return places @ grad
