"""What little arithmetic sparse tensors have: what gradients and optimizers need.

These kernels belong to ops of other families; they are registered here, as a backend outside of the tree would do it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch import promotion, state
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecpu.pointwise import on_values_kernels
from mindtorch.dispatch.registry import register_kernels


def add(input: SparseArray, other: Any, alpha: Any = 1, out: SparseArray | None = None) -> SparseArray:
    """sparse + sparse: all elements of both, added up where equal when both are coalesced, as torch does it."""
    if not isinstance(other, SparseArray):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if input.shape != other.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(input.shape)} != {list(other.shape)}"
        )
    dtype = promotion.common_dtype(input, other)
    values = np.concatenate([input.values.astype(dtype), (other.values * alpha).astype(dtype)])
    both = SparseArray(np.concatenate([input.indices, other.indices], axis=1), values, input.shape, False)
    result = both.coalesce()
    result.coalesced = input.coalesced and other.coalesced
    return result if out is None else out.become(result)


def mul(input: SparseArray, other: Any, out: SparseArray | None = None) -> SparseArray:
    """sparse * number, and sparse * anything of its shape: the result is as sparse as the input."""
    if isinstance(other, SparseArray):
        other = other.to_dense()
    if isinstance(other, np.ndarray) and other.ndim:
        result = input.times(other)
    else:
        result = input.with_values(_same_dtype(input.values * other, input, other))
    return result if out is None else out.become(result)


def div(input: SparseArray, other: Any, out: SparseArray | None = None) -> SparseArray:
    """sparse / number."""
    if isinstance(other, SparseArray | np.ndarray) and other.ndim:
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor")
    result = input.with_values((input.values / other).astype(promotion.int_to_float(input, other)))
    return result if out is None else out.become(result)


def _same_dtype(values: np.ndarray, input: SparseArray, other: Any) -> np.ndarray:
    return values.astype(promotion.common_dtype(input, other), copy=False)


def neg(input: SparseArray, out: SparseArray | None = None) -> SparseArray:
    """Of sums, it is that of the terms: equal indices may stay."""
    result = input.with_values(-input.values)
    return result if out is None else out.become(result)


def clone(input: SparseArray, memory_format: Any = None) -> SparseArray:
    return input.copy()


def detach(input: SparseArray) -> SparseArray:
    return input.with_values(input.values)


def zero(input: SparseArray, out: SparseArray | None = None) -> SparseArray:
    return (input if out is None else out).become(_zeros(input))


def zeros_like(input: SparseArray, dtype: Any = None, *options: Any) -> SparseArray:
    return _zeros(input, dtype.numpy if dtype is not None else None)


def _zeros(input: SparseArray, dtype: np.dtype | None = None) -> SparseArray:
    values = np.zeros((0, *input.values.shape[1:]), input.dtype if dtype is None else dtype)
    return SparseArray(np.zeros((input.sparse_dim, 0), np.int64), values, input.shape, True)


def zeros(size: Sequence[int], dtype: Any = None, *options: Any) -> SparseArray:
    values = np.zeros(0, (dtype or state.default_dtype).numpy)
    return SparseArray(np.zeros((len(size), 0), np.int64), values, tuple(size), True)


def to_copy(input: SparseArray, dtype: Any = None, *options: Any) -> SparseArray:
    copy = input.copy()
    return copy if dtype is None else copy.with_values(copy.values.astype(dtype.numpy))


def copy(input: SparseArray, src: Any, non_blocking: bool = False, out: SparseArray | None = None) -> SparseArray:
    if not isinstance(src, SparseArray):
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = sparse")
    return input.become(src.with_values(src.values.astype(input.dtype)).copy())


def transpose(input: SparseArray, dim0: int, dim1: int) -> SparseArray:
    """Two sparse dimensions change places."""
    dim0, dim1 = dim0 % input.ndim, dim1 % input.ndim
    if max(dim0, dim1) >= input.sparse_dim:
        raise RuntimeError("transpose: only the sparse dimensions of a sparse tensor can be transposed")
    order = list(range(input.ndim))
    order[dim0], order[dim1] = dim1, dim0
    shape: Sequence[int] = [input.shape[dim] for dim in order]
    return SparseArray(input.indices[order[: input.sparse_dim]], input.values, tuple(shape), False)


def permute(input: SparseArray, dims: Sequence[int]) -> SparseArray:
    order = [dim % input.ndim for dim in dims]
    sparse, dense = order[: input.sparse_dim], [dim - input.sparse_dim + 1 for dim in order[input.sparse_dim :]]
    if max(sparse, default=0) >= input.sparse_dim:
        raise RuntimeError("permute: the sparse and the dense dimensions of a sparse tensor cannot be mixed")
    shape = tuple(input.shape[dim] for dim in order)
    return SparseArray(input.indices[sparse], input.values.transpose(0, *dense), shape, False)


def select(input: SparseArray, dim: int, index: int) -> Any:
    """What is left of a dimension's elements is sparse while there is another sparse dimension, else dense."""
    dim, shape = dim % input.ndim, list(input.shape)
    length = shape.pop(dim)
    index = index + length if index < 0 else index
    own = input.coalesce()
    if dim >= own.sparse_dim:
        values = np.take(own.values, index, axis=dim - own.sparse_dim + 1)
        return SparseArray(own.indices, values, tuple(shape), True)
    chosen = own.indices[dim] == index
    if own.sparse_dim == 1:
        return np.asarray(own.values[chosen].sum(0, dtype=own.dtype))
    return SparseArray(np.delete(own.indices[:, chosen], dim, axis=0), own.values[chosen], tuple(shape), True)


def t(input: SparseArray) -> SparseArray:
    return transpose(input, 0, 1) if input.ndim > 1 else input.copy()


def sum(input: SparseArray, dtype: Any = None) -> np.ndarray:
    values = input.values if dtype is None else input.values.astype(dtype.numpy)
    return np.asarray(values.sum(dtype=promotion.sum_of(values)), promotion.sum_of(values))


def mm(input: SparseArray, mat2: Any, out: np.ndarray | None = None) -> np.ndarray:
    """sparse @ dense, which is dense."""
    if isinstance(mat2, SparseArray):
        mat2 = mat2.to_dense()
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {input.shape[1]}, got {mat2.shape[0]}")
    product = input.dot(mat2)
    if out is None:
        return product
    out[...] = product
    return out


def mv(input: SparseArray, vec: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    return mm(input, vec[:, None], None if out is None else out[:, None])[:, 0]


register_kernels(
    "SparseCPU",
    {
        **on_values_kernels(SparseArray.coalesce),
        "_to_copy": to_copy,
        "add.Tensor": add,
        "clone": clone,
        "copy_": copy,
        "detach": detach,
        "div.Tensor": div,
        "mm": mm,
        "mul.Tensor": mul,
        "mv": mv,
        "neg": neg,
        "permute": permute,
        "select.int": select,
        "sum": sum,
        "t": t,
        "transpose.int": transpose,
        "zero_": zero,
        "zeros": zeros,
        "zeros_like": zeros_like,
    },
)
