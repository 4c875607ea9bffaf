"""Other shapes of sparse tensors: dimensions exchanged, added and taken apart, tensors joined."""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from mindtorch._core import geometry, promotion
from mindtorch._support import errors
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.dispatch.registry import register_kernels

# -------------------- dimensions in another order --------------------


def transpose(input: SparseArray, dim0: int, dim1: int) -> SparseArray:
    """Two sparse dimensions change places."""
    dim0, dim1 = (geometry.wrap_dim(dim, input.ndim) for dim in (dim0, dim1))
    if max(dim0, dim1) >= input.sparse_dim:
        raise RuntimeError(
            f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {input.sparse_dim}, d0: {dim0}, "
            f"d1: {dim1}"
        )
    if dim0 == dim1:
        return input.with_values(input.values)
    order = list(range(input.ndim))
    order[dim0], order[dim1] = dim1, dim0
    return _in_order(input, order)


def permute(input: SparseArray, dims: Sequence[int]) -> SparseArray:
    if len(dims) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = [geometry.wrap_dim(dim, input.ndim) for dim in dims]
    if len(set(order)) < len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if order == sorted(order):
        return input.with_values(input.values)
    if any(dim >= input.sparse_dim for dim in order[: input.sparse_dim]):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed."
            "Only transpositions within sparse and dense dimensions are supported."
        )
    result = _in_order(input, order)
    result.coalesced = input.coalesced and order[0] == 0
    return result


def _in_order(input: SparseArray, order: Sequence[int]) -> SparseArray:
    sparse, dense = order[: input.sparse_dim], [dim - input.sparse_dim + 1 for dim in order[input.sparse_dim :]]
    shape = tuple(input.shape[dim] for dim in order)
    return SparseArray(input.indices[sparse], input.values.transpose(0, *dense), shape, False)


def t(input: SparseArray) -> SparseArray:
    if input.sparse_dim > 2 or input.dense_dim:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.sparse_dim} sparse and "
            f"{input.dense_dim} dense dimensions"
        )
    return transpose(input, 0, 1) if input.ndim > 1 else input.with_values(input.values)


def expand(input: SparseArray, size: Sequence[int], implicit: bool = False) -> NoReturn:
    raise RuntimeError("expand is unsupported for Sparse tensors")


# -------------------- dimensions added and taken away --------------------


def unsqueeze(input: SparseArray, dim: int) -> SparseArray:
    dim = geometry.wrap_dim(dim, input.ndim + 1)
    shape = (*input.shape[:dim], 1, *input.shape[dim:])
    if dim > input.sparse_dim:
        values = np.expand_dims(input.values, dim - input.sparse_dim + 1)
        return SparseArray(input.indices, values, shape, False)
    return SparseArray(np.insert(input.indices, dim, 0, axis=0), input.values, shape, False)


def select(input: SparseArray, dim: int, index: int) -> Any:
    """What is left of a dimension's elements is sparse while there is another sparse dimension, else dense."""
    dim = geometry.wrap_dim(dim, input.ndim)
    index = _wrapped_index(index, input.shape, dim)
    shape = input.shape[:dim] + input.shape[dim + 1 :]
    if dim >= input.sparse_dim:
        values = np.take(input.values, index, axis=dim - input.sparse_dim + 1)
        return SparseArray(input.indices, values, shape, False)
    chosen = input.indices[dim] == index
    if input.sparse_dim == 1:
        return np.asarray(input.values[chosen].sum(0, dtype=input.dtype))
    return SparseArray(np.delete(input.indices[:, chosen], dim, axis=0), input.values[chosen], shape, False)


def _wrapped_index(index: int, shape: Sequence[int], dim: int) -> int:
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}")
    return index % shape[dim]


def unbind(input: SparseArray, dim: int = 0) -> list[Any]:
    dim = geometry.wrap_dim(dim, input.ndim)
    return [select(input, dim, index) for index in range(input.shape[dim])]


def view_as_real(input: SparseArray) -> SparseArray:
    if input.dtype.kind != "c":
        raise RuntimeError("view_as_real_sparse is only supported for complex sparse tensors")
    parts = input.values.view(promotion.real_of(input.dtype)).reshape(*input.values.shape, 2)
    return SparseArray(input.indices, parts, (*input.shape, 2), input.coalesced)


# -------------------- parts of dimensions --------------------


def index_select(input: SparseArray, dim: int, index: np.ndarray, out: Any = None) -> SparseArray:
    """The elements whose place along a dimension is asked for, as often as it is."""
    dim = geometry.wrap_dim(dim, input.ndim)
    places = _checked_places(index, input.shape, dim)
    shape = (*input.shape[:dim], len(places), *input.shape[dim + 1 :])
    if dim >= input.sparse_dim:
        values = np.take(input.values, places, axis=dim - input.sparse_dim + 1)
        return SparseArray(input.indices, values, shape, False)
    new, old = np.nonzero(places[:, None] == input.indices[dim])
    indices = input.indices[:, old]
    indices[dim] = new
    return SparseArray(indices, input.values[old], shape, False)


def _checked_places(index: Any, shape: Sequence[int], dim: int) -> np.ndarray:
    if not isinstance(index, np.ndarray) or index.ndim != 1 or index.dtype.name not in ("int64", "int32"):
        raise IndexError("index_select() argument index must be 1-D strided (non-sparse) long-tensor.")
    length = shape[dim]
    outside = (index < -length) | (index >= length)
    if outside.any():
        raise IndexError(
            f"index_select(): index contains {index[outside][0]} that is out of range for tensor of size {list(shape)} "
            f"at dimension {dim}"
        )
    return np.where(index < 0, index + length, index)


def narrow_copy(input: SparseArray, dim: int, start: int, length: int) -> SparseArray:
    _check_range(input.shape, dim, start, length)
    shape = (*input.shape[:dim], length, *input.shape[dim + 1 :])
    if dim >= input.sparse_dim:
        axis = dim - input.sparse_dim + 1
        values = np.take(input.values, range(start, start + length), axis=axis)
        return SparseArray(input.indices, values, shape, input.coalesced)
    inside = (input.indices[dim] >= start) & (input.indices[dim] < start + length)
    indices = input.indices[:, inside]
    indices[dim] -= start
    return SparseArray(indices, input.values[inside], shape, input.coalesced)


def _check_range(shape: Sequence[int], dim: int, start: int, length: int) -> None:
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not 0 <= dim < len(shape):
        raise RuntimeError(f"Dimension {dim} out of range. Expecting 0 <= dim < {len(shape)}.")
    if not 0 <= start <= shape[dim] - length:
        raise RuntimeError(
            f"Invalid range to narrow. range(start, start+length) must be a subset of range(0, {shape[dim]})."
        )


# -------------------- several tensors --------------------


def cat(tensors: Sequence[Any], dim: int = 0, out: Any = None) -> SparseArray:
    """One after the other; along a dense dimension, each has zeros where the others have their elements."""
    dim = geometry.wrap_dim(dim, tensors[0].ndim)
    _check_alike(tensors, dim)
    shape = list(tensors[0].shape)
    shape[dim] = sum(each.shape[dim] for each in tensors)
    dtype = promotion.common_dtype(*tensors)
    starts = np.cumsum([0, *(each.shape[dim] for each in tensors)])
    join = _join_sparse if dim < tensors[0].sparse_dim else _join_dense
    parts = [join(each, dim, start, tuple(shape)) for each, start in zip(tensors, starts)]
    indices = np.concatenate([part[0] for part in parts], axis=1)
    return SparseArray(
        indices, np.concatenate([part[1] for part in parts]).astype(dtype, copy=False), tuple(shape), False
    )


def stack(tensors: Sequence[Any], dim: int = 0, out: Any = None) -> SparseArray:
    dim = geometry.wrap_dim(dim, tensors[0].ndim + 1)
    for place, each in enumerate(tensors):
        if each.shape != tensors[0].shape:
            raise errors.unequal_entries(tensors[0].shape, each.shape, place)
    _check_alike(tensors, dim)
    return cat([unsqueeze(each, dim) for each in tensors], dim)


def _join_sparse(array: SparseArray, dim: int, start: int, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    indices = array.indices.copy()
    indices[dim] += start
    return indices, array.values


def _join_dense(array: SparseArray, dim: int, start: int, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    axis = dim - array.sparse_dim + 1
    values = np.zeros((array.nnz, *shape[array.sparse_dim :]), array.dtype)
    place = [slice(None)] * values.ndim
    place[axis] = slice(start, start + array.shape[dim])
    values[tuple(place)] = array.values
    return array.indices, values


def _check_alike(tensors: Sequence[Any], dim: int) -> None:
    first = tensors[0]
    for number, each in enumerate(tensors):
        if not isinstance(each, SparseArray):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {number}.")
        if (first.sparse_dim, first.dense_dim) != (each.sparse_dim, each.dense_dim):
            raise RuntimeError(
                "All tensors must have the same number of sparse and dense dimensions: "
                f"{first.sparse_dim}, {first.dense_dim}, but tensor at position {number} has {each.sparse_dim}, "
                f"{each.dense_dim}."
            )
        if not _same_but_for(first.shape, each.shape, dim):
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension), "
                f"but found shape: {list(each.shape)} at position {number}."
            )


def _same_but_for(first: Sequence[int], second: Sequence[int], dim: int) -> bool:
    return len(first) == len(second) and all(a == b for axis, (a, b) in enumerate(zip(first, second)) if axis != dim)


register_kernels(
    "SparseCPU",
    {
        "cat": cat,
        "expand": expand,
        "index_select": index_select,
        "permute": permute,
        "select.int": select,
        "stack": stack,
        "t": t,
        "transpose.int": transpose,
        "unbind.int": unbind,
        "unsqueeze": unsqueeze,
        "view_as_real": view_as_real,
    },
)
