"""Ops of the sparse family that are written in other ops, so that their derivatives follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.dtype import int64
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import sparse_bsc, sparse_bsr, sparse_coo, strided
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch.autograd._engine.history import check_inplace, edge_of, mark_written
from mindtorch.backends.sparsecpu.copies import resize, resize_and_clear
from mindtorch.composite.sparse.sparse_math import product_of_sparse, product_with_dense
from mindtorch.dispatch import ops


def _require_sparse(input: Tensor, op: str, kind: str = "sparse coordinate tensor layout") -> None:
    if not input.is_sparse:
        raise RuntimeError(f"{op} expected {kind} but got {input.layout.shown}")


# -------------------- other sizes --------------------


def sparse_resize_(input, size, sparse_dim, dense_dim) -> Tensor:
    return _resized(resize, "sparse_resize_", input, size, sparse_dim, dense_dim)


def sparse_resize_and_clear_(input, size, sparse_dim, dense_dim) -> Tensor:
    return _resized(resize_and_clear, "sparse_resize_and_clear_", input, size, sparse_dim, dense_dim)


def resize_as_sparse_(input, the_template) -> Tensor:
    return sparse_resize_(input, the_template.shape, the_template.sparse_dim(), the_template.dense_dim())


def _resized(change: Callable[..., Any], op: str, input: Tensor, *sizes: Any) -> Tensor:
    if not input.is_sparse:
        raise errors.no_kernel(op, "CPU", ["SparseCPU"])
    if edge_of(input) is not None and state.thread.grad_enabled:
        check_inplace(input)
    change(input._mt_array, *sizes)
    mark_written(input)
    return input


# -------------------- making sparse tensors --------------------


def sparse_coo_from_indices(
    indices, values, dtype=None, layout=None, device=None, pin_memory=None, is_coalesced=None
) -> Tensor:
    """The smallest size that holds all indices."""
    check_coo_parts(indices, values)
    places = indices._mt_array
    size = [int(row.max()) + 1 if row.size else 0 for row in places]
    for dim, row in enumerate(places):
        if row.size and row.min() < 0:
            raise RuntimeError(f"found negative index {row.min()} for dim {dim}")
    return _sparse_coo(indices, values, [*size, *values.shape[1:]], dtype, is_coalesced)


def sparse_coo_from_size(
    indices, values, size, dtype=None, layout=None, device=None, pin_memory=None, is_coalesced=None
) -> Tensor:
    check_coo_parts(indices, values)
    check_coo_bounds(indices._mt_array, size)
    return _sparse_coo(indices, values, size, dtype, is_coalesced)


def sparse_coo_unsafe(
    indices, values, size, dtype=None, layout=None, device=None, pin_memory=None, is_coalesced=None
) -> Tensor:
    return _sparse_coo(indices, values, size, dtype, is_coalesced)


def _sparse_coo(indices: Tensor, values: Tensor, size: Any, dtype: Any, is_coalesced: bool | None) -> Tensor:
    if dtype is not None:
        values = values.to(dtype)
    return ops._sparse_coo_tensor_with_dims_and_tensors(
        indices.shape[0], values.ndim - 1, size, indices, values, is_coalesced=is_coalesced
    )


def check_coo_parts(indices: Tensor, values: Tensor) -> None:
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    nnz = values.shape[0] if values.ndim else 1
    if indices.shape[1] != nnz or not values.ndim:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{indices.shape[1]}, nnz from values: {nnz}"
        )
    if indices.dtype is not int64:
        raise RuntimeError(f"indices must be an int64 tensor, but got {indices.dtype}")
    for each in (indices, values):
        if getattr(each._mt_array, "in_device_memory", False):
            backend = f"Sparse{each.device.type.upper()}"
            raise errors.no_kernel("_sparse_coo_tensor_with_dims_and_tensors", backend, ["SparseCPU"])


def check_coo_bounds(places: np.ndarray, size: Any) -> None:
    for dim, (row, length) in enumerate(zip(places, size)):
        if row.size and row.min() < 0:
            raise RuntimeError(f"found negative index {row.min()} for dim {dim}")
        if row.size and row.max() >= length:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {length} but found index {row.max()}"
            )


def to_sparse_dim(input, sparse_dim) -> Tensor:
    if not input.is_sparse:
        return ops._to_sparse_sparse_dim(input, sparse_dim)
    if sparse_dim != input.sparse_dim():
        raise RuntimeError(
            "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported"
        )
    return input


def to_sparse(input, layout=None, blocksize=None, dense_dim=None) -> Tensor:
    if layout in (None, sparse_coo) and input.is_sparse:
        return input
    if layout is strided:
        return input if input.layout is strided else input.to_dense()
    return ops._to_sparse_default(input, layout=layout, blocksize=blocksize, dense_dim=dense_dim)


def compressed_from_parts(
    compressed_indices, plain_indices, values, dtype=None, layout=None, device=None, pin_memory=False
) -> Tensor:
    """The smallest size that holds all indices."""
    batch = compressed_indices.ndim - 1
    block = values.shape[batch + 1 : batch + 3] if layout.is_blocked else (1, 1)
    largest = int(plain_indices._mt_array.max()) + 1 if plain_indices.numel() else 0
    packed = compressed_indices.shape[-1] - 1
    rows, columns = (packed, largest) if layout.by_rows else (largest, packed)
    dense = values.shape[batch + 1 + 2 * layout.is_blocked :]
    size = [*compressed_indices.shape[:-1], rows * block[0], columns * block[1], *dense]
    return ops.sparse_compressed_tensor_comp_plain_value_size(
        compressed_indices, plain_indices, values, size, dtype=dtype, layout=layout
    )


def to_bsr(input, blocksize, dense_dim=None) -> Tensor:
    return input if _has_blocks(input, sparse_bsr, blocksize) else ops._to_sparse_bsr(input, blocksize, dense_dim)


def to_bsc(input, blocksize, dense_dim=None) -> Tensor:
    return input if _has_blocks(input, sparse_bsc, blocksize) else ops._to_sparse_bsc(input, blocksize, dense_dim)


def _has_blocks(input: Tensor, layout: Layout, blocksize: Any) -> bool:
    return input.layout is layout and input._mt_array.blocksize == tuple(blocksize)


# -------------------- parts --------------------


def coalesce(input) -> Tensor:
    _require_sparse(input, "coalesce")
    return input if input.is_coalesced() else ops._coalesce(input)


def indices(input) -> Tensor:
    _require_sparse(input, "indices")
    _require_coalesced(input, "indices")
    return ops._indices(input)


def values(input) -> Tensor:
    if input.layout is strided:
        raise RuntimeError("values expected sparse tensor layout but got Strided")
    if input.is_sparse:
        _require_coalesced(input, "values")
    return ops._values(input)


def crow_indices(input) -> Tensor:
    _require_compressed(input, "crow_indices", "row", by_rows=True)
    return wrap(input._mt_array.compressed.view())


def col_indices(input) -> Tensor:
    _require_compressed(input, "col_indices", "row", by_rows=True)
    return wrap(input._mt_array.plain.view())


def ccol_indices(input) -> Tensor:
    _require_compressed(input, "ccol_indices", "column", by_rows=False)
    return wrap(input._mt_array.compressed.view())


def row_indices(input) -> Tensor:
    _require_compressed(input, "row_indices", "column", by_rows=False)
    return wrap(input._mt_array.plain.view())


def _require_compressed(input: Tensor, op: str, which: str, by_rows: bool) -> None:
    layout = input.layout
    if not layout.is_compressed or layout.by_rows is not by_rows:
        raise RuntimeError(f"{op} expected sparse {which} compressed tensor layout but got {layout.shown}")


def _require_coalesced(input: Tensor, op: str) -> None:
    if not input.is_coalesced():
        raise RuntimeError(f"Cannot get {op} on an uncoalesced tensor, please call .coalesce() first")


# -------------------- products --------------------


def sparse_mm(sparse, dense) -> Tensor:
    if sparse.layout.is_compressed:
        sparse = sparse.to_sparse()
    if not sparse.is_sparse:
        return ops.mm(sparse, dense)
    return product_of_sparse(sparse, dense) if dense.is_sparse else product_with_dense(sparse, dense)


def sparse_addmm(input, mat1, mat2, beta=1, alpha=1) -> Tensor:
    if input.is_sparse:
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    if mat2.is_sparse:
        raise RuntimeError(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got "
            f"'mat1' with layout {mat1.layout.shown} and 'mat2' with layout Sparse"
        )
    product = sparse_mm(mat1, mat2)
    return input * beta + product * alpha
