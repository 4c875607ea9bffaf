"""Sparse tensors: softmax over the elements that there are, products that stay sparse, and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.dtype import int64
from mindtorch._core.layout import sparse_coo, sparse_csc, sparse_csr
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch.backends.sparsecpu.products import check_product, check_sparse_product, meeting
from mindtorch.dispatch import ops


def sparse_softmax(input, dim, dtype=None) -> Tensor:
    return _with_values(input, _softmax_values("_sparse_softmax", input, dim, dtype, is_log=False))


def sparse_log_softmax(input, dim, dtype=None) -> Tensor:
    return _with_values(input, _softmax_values("_sparse_log_softmax", input, dim, dtype, is_log=True))


def _softmax_values(op: str, input: Tensor, dim: int, dtype: Any, is_log: bool) -> Tensor:
    """The new values; what is not there counts as minus infinity."""
    if not input.is_sparse:
        backend = "SparseCsrCPU" if input.layout.is_compressed else "CPU"
        raise errors.no_kernel(op, backend, ["SparseCPU"])
    dim = geometry.wrap_dim(dim, input.ndim)
    if dtype is not None:
        input = input.to(dtype)
    if not input.is_floating_point():
        name = "log_softmax" if is_log else "softmax"
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.storage_name}'")
    values, indices = input.coalesce().values(), input.coalesce().indices()._mt_array
    if dim >= len(indices):
        within = dim - len(indices) + 1
        return values.log_softmax(within) if is_log else values.softmax(within)
    others = np.delete(indices, dim, axis=0)
    count, groups = _groups(others, indices.shape[1])
    shifted = values - _largest(values._mt_array, groups._mt_array, count).index_select(0, groups)
    totals = values.new_zeros((count, *values.shape[1:])).index_add(0, groups, shifted.exp())
    if is_log:
        return shifted - totals.log().index_select(0, groups)
    return shifted.exp() / totals.index_select(0, groups)


def _largest(values: np.ndarray, groups: np.ndarray, count: int) -> Tensor:
    """The largest value of each group, which only keeps numbers small: it has no gradient."""
    largest = np.full((count, *values.shape[1:]), -np.inf, values.dtype)
    np.maximum.at(largest, groups, values)
    return wrap(largest)


def _groups(places: np.ndarray, count: int) -> tuple[int, Tensor]:
    """How many different columns there are, and the number of each one."""
    if not len(places):
        return 1, wrap(np.zeros(count, np.int64))
    different, numbers = np.unique(places, axis=1, return_inverse=True)
    return different.shape[1], wrap(numbers.reshape(-1).astype(np.int64))


def _with_values(input: Tensor, values: Tensor) -> Tensor:
    indices = input.coalesce().indices()
    return ops._sparse_coo_tensor_unsafe(indices, values, input.shape, is_coalesced=True)


# -------------------- sums --------------------


def sparse_sum(input, dim, dtype=None) -> Tensor:
    """The sum over dimensions, which is dense if no sparse one is left."""
    if not input.is_sparse:
        raise errors.no_kernel("_sparse_sum.dim", "CPU", ["SparseCPU"])
    input = (input if dtype is None else input.to(dtype)).coalesce()
    dims = geometry.wrap_dims(dim, input.ndim)
    sparse_dim, values = input.sparse_dim(), input.values()
    if inner := [dim - sparse_dim + 1 for dim in dims if dim >= sparse_dim]:
        values = values.sum(inner)
    left = [dim for dim in range(sparse_dim) if dim not in dims]
    if not left:
        return values.sum(0)
    indices = wrap(input.indices()._mt_array[left])
    shape = [length for dim, length in enumerate(input.shape) if dim not in dims]
    return ops._sparse_coo_tensor_unsafe(indices, values, shape).coalesce()


# -------------------- products --------------------


def product_with_dense(sparse: Tensor, dense: Tensor) -> Tensor:
    """Each value times the row of `dense` that its column names, added to the row of the result that its row names.

    Its gradient has the elements of `sparse`, and no others.
    """
    check_product(sparse._mt_array, dense._mt_array)
    sparse = sparse.coalesce()
    rows, columns = sparse.indices().unbind(0)
    terms = sparse.values().unsqueeze(1) * dense.index_select(0, columns)
    return dense.new_zeros((sparse.shape[0], dense.shape[1])).index_add(0, rows, terms)


def product_of_sparse(first: Tensor, second: Tensor) -> Tensor:
    """The elements of both that meet, multiplied and added up."""
    check_sparse_product(first._mt_array, second._mt_array)
    first, second = first.coalesce(), second.coalesce()
    left, right = (wrap(each) for each in meeting(first._mt_array, second._mt_array))
    values = first.values().index_select(0, left) * second.values().index_select(0, right)
    rows, columns = first.indices()[0].index_select(0, left), second.indices()[1].index_select(0, right)
    size = (first.shape[0], second.shape[1])
    return ops._sparse_coo_tensor_unsafe(ops.stack((rows, columns)), values, size).coalesce()


def hspmm(mat1, mat2) -> Tensor:
    if not mat1.is_sparse:
        raise errors.no_kernel("hspmm", "CPU", ["SparseCPU"])
    if mat2.is_sparse:
        raise RuntimeError("sspaddmm: expected 'mat2' to have strided layout, got 'mat2' with layout Sparse")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"hspmm: Argument #3: Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}")
    rows = wrap(np.unique(mat1.coalesce().indices()._mt_array[0]))
    product = ops._sparse_mm(mat1, mat2)
    size = (mat1.shape[0], mat2.shape[1])
    return ops._sparse_coo_tensor_unsafe(rows.unsqueeze(0), product.index_select(0, rows), size)


def smm(input, mat2) -> Tensor:
    _require_sparse(input)
    return _all_elements(hspmm(input, mat2))


def sspaddmm(input, mat1, mat2, beta=1, alpha=1) -> Tensor:
    _require_sparse(input, mat1)
    added, product = input * beta, _all_elements(hspmm(mat1, mat2)) * alpha
    indices = ops.cat((added._indices(), product._indices()), 1)
    values = ops.cat((added._values(), product._values()))
    return ops._sparse_coo_tensor_unsafe(indices, values, input.shape)


def _require_sparse(*tensors: Tensor) -> None:
    if not all(tensor.is_sparse for tensor in tensors):
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")


def _all_elements(rows: Tensor) -> Tensor:
    """Whole rows as elements, those that are 0 included."""
    (numbers,), values = rows._indices().unbind(0), rows._values()
    count, width = values.shape
    columns = ops.arange(width).repeat(count)
    indices = ops.stack((numbers.repeat_interleave(width), columns))
    return ops._sparse_coo_tensor_unsafe(indices, values.reshape(-1), rows.shape)


# -------------------- diagonals --------------------


def spdiags(diagonals, offsets, shape, layout=None) -> Tensor:
    diagonals = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    offsets = offsets.reshape(1) if offsets.ndim == 0 else offsets
    _check_diagonals(diagonals, offsets, shape, layout)
    rows, columns = shape
    width = diagonals.shape[1]
    places, taken = [], []
    for number, offset in enumerate(offsets.tolist()):
        column = np.arange(max(offset, 0), min(columns, rows + offset, width))
        places.append(np.stack([column - offset, column]))
        taken.append(np.stack([np.full(len(column), number), column]))
    first, second = (wrap(each) for each in np.concatenate(taken, axis=1).astype(np.int64))
    indices = wrap(np.concatenate(places, axis=1).astype(np.int64))
    result = ops._sparse_coo_tensor_unsafe(indices, diagonals[first, second], shape)
    return result if layout in (None, sparse_coo) else result.to_sparse(layout=layout)


def _check_diagonals(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any) -> None:
    if diagonals.ndim != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.ndim > 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if diagonals.shape[0] != offsets.shape[0]:
        raise RuntimeError(
            f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.shape[0]})"
        )
    if layout not in (None, sparse_coo, sparse_csc, sparse_csr):
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout.shown}")
    if offsets.dtype is not int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype.storage_name}")
    if len(set(offsets.tolist())) < offsets.numel():
        raise RuntimeError("Offset tensor contains duplicate values")
    starts, ends = offsets.clamp(min=0), (offsets + shape[0]).clamp(max=min(shape[1], diagonals.shape[1]))
    count = int((ends - starts).sum())
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [2, {count}]")
