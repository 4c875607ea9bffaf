"""Formulas of linear algebra."""

from functools import lru_cache

import numpy as np

from mindtorch._core import state
from mindtorch._core.fast_path import common_kind, has_bare_array
from mindtorch._core.tensor import wrap
from mindtorch.autograd.formulas.common import conj
from mindtorch.autograd.formulas.reduction.reduction import vector_norm_backward
from mindtorch.dispatch import ops
from mindtorch.dispatch.registry import kernel_table

_mm_kernels = kernel_table("mm")


def mm_self_backward(grad, mat2, stride):
    """Gradient of a matrix product with respect to its first factor, column by column if that has such strides."""
    by_columns = stride == (1, grad._mt_array.shape[0])
    if kind := _bare_kind(grad, mat2):
        if by_columns:
            return wrap(_mm_kernels[np.ndarray](mat2._mt_array, grad._mt_array.T).T)
        return wrap(_mm_kernels[np.ndarray](grad._mt_array, mat2._mt_array.T), None, kind)
    return conj(mat2).mm(grad.t()).t() if by_columns else grad.mm(conj(mat2.t()))


def mm_mat2_backward(grad, self, stride):
    """Gradient of a matrix product with respect to its second factor, column by column if that has such strides.

    The weight of a linear layer is such a factor, transposed: transposed back, its gradient lies in memory as it does.
    """
    by_columns = stride == (1, self._mt_array.shape[1])
    if kind := _bare_kind(grad, self):
        if by_columns:
            return wrap(_mm_kernels[np.ndarray](grad._mt_array.T, self._mt_array).T)
        return wrap(_mm_kernels[np.ndarray](self._mt_array.T, grad._mt_array), None, kind)
    return grad.t().mm(conj(self)).t() if by_columns else conj(self.t()).mm(grad)


def _bare_kind(grad, factor):
    """The kind of two plain arrays while nothing is recorded or watched: then the kernel can be called directly."""
    return None if state.recorded_passes or state.active_modes else common_kind(grad, factor)


def cdist_grads(grad, x1, x2, p, result):
    """Gradients of the distances of all rows of one matrix from those of another."""
    slopes = vector_norm_backward(grad, differences_of_rows(x1, x2), p, result, [-1], False)
    if slopes is None:  # a count of numbers that differ
        return ops.zeros_like(x1), ops.zeros_like(x2)
    return slopes.sum(-2), -slopes.sum(-3)


def euclidean_dist_grads(grad, x1, x2, result):
    """Gradients of the distances of all rows of one matrix from those of another, where these come from a product."""
    slopes = (grad / result).masked_fill(result == 0, 0)
    x1_grad = x1 * slopes.sum(-1, True) - slopes.matmul(x2)
    return x1_grad, x2 * slopes.sum(-2).unsqueeze(-1) - slopes.mT.matmul(x1)


def pdist_backward(grad, self, p, result):
    """Gradient of the distances of all pairs of rows."""
    first, second = pairs_of_rows(self)
    differences = self.index_select(0, first) - self.index_select(0, second)
    slopes = vector_norm_backward(grad, differences, p, result, [-1], False)
    if slopes is None:
        return ops.zeros_like(self)
    return ops.zeros_like(self).index_add(0, first, slopes).index_add(0, second, -slopes)


def differences_of_rows(x1, x2):
    """Each row of one matrix minus each of another."""
    return x1.unsqueeze(-2) - x2.unsqueeze(-3)


def pairs_of_rows(tensor):
    """The numbers of the rows 0 and 1, 0 and 2, ..., 1 and 2, ...: the first of each pair, and the second."""
    count = tensor._mt_array.shape[0]
    if count <= _FEW_ROWS and has_bare_array(tensor):
        return [wrap(each) for each in _pairs(count)]
    return ops.triu_indices(count, count, 1, device=tensor.device).unbind(0)


_FEW_ROWS = 64  # of which the pairs are kept


@lru_cache(maxsize=_FEW_ROWS)
def _pairs(count):
    pairs = np.triu_indices(count, 1)
    for each in pairs:
        each.flags.writeable = False  # they are handed out again
    return pairs
