"""Copies of sparse tensors, and new ones like them or of their layout."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.layout import strided
from mindtorch._core.memory_format import contiguous_format
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.dispatch.registry import register_kernels


def clone(input: Any, memory_format: Any = None) -> Any:
    """A copy of coordinates or of a compressed array, which have no other order."""
    if memory_format is contiguous_format:
        raise RuntimeError("unsupported memory format option Contiguous")
    return input.copy()


def detach(input: Any) -> Any:
    """Of either, another array over the same memory."""
    return input.with_values(input.values)


def to_copy(input: SparseArray, dtype: Any = None, *options: Any) -> SparseArray:
    copied = input.copy()
    return copied if dtype is None else copied.with_values(cast(copied.values, dtype.numpy))


def copy(input: SparseArray, src: Any, non_blocking: bool = False, out: SparseArray | None = None) -> SparseArray:
    if not isinstance(src, SparseArray):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"torch.sparse.{scalar_name(input)}Tensor and src type = torch.{scalar_name(src)}Tensor"
        )
    if input.shape != src.shape:
        resize(input, src.shape, src.sparse_dim, src.dense_dim)
    return input.become(src.with_values(cast(src.values, input.dtype)).copy())


# -------------------- other sizes --------------------


def resize(input: SparseArray, size: Sequence[int], sparse_dim: int, dense_dim: int) -> SparseArray:
    """Another size for the elements that there are: places stay places, values grow at their ends."""
    check_dims(size, sparse_dim, dense_dim)
    if not input.nnz:
        return resize_and_clear(input, size, sparse_dim, dense_dim)
    for kind, old, new in (("sparse", input.sparse_dim, sparse_dim), ("dense", input.dense_dim, dense_dim)):
        if old != new:
            raise _not_resizable(f"changing the number of {kind} dimensions (from {old} to {new})")
    for kind, part in (("sparse", slice(sparse_dim)), ("dense", slice(sparse_dim, None))):
        before, after = list(input.shape[part]), list(size[part])
        if any(b < a for a, b in zip(before, after)):
            raise _not_resizable(f"shrinking the size of {kind} dimensions (from {before} to {after})")
    if tuple(size[sparse_dim:]) != input.values.shape[1:]:
        input.values = np.resize(input.values, (input.nnz, *size[sparse_dim:]))
    input.shape = tuple(size)
    return input


def resize_and_clear(input: SparseArray, size: Sequence[int], sparse_dim: int, dense_dim: int) -> SparseArray:
    check_dims(size, sparse_dim, dense_dim)
    values = np.zeros((0, *size[sparse_dim:]), input.dtype)
    return input.become(SparseArray(np.zeros((sparse_dim, 0), np.int64), values, tuple(size), True))


def check_dims(size: Sequence[int], sparse_dim: int, dense_dim: int) -> None:
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
            f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )


_WAYS_OUT = (
    " on a non-empty sparse tensor is not supported.\nYou could try the following options:\n"
    "1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.\n"
    "2. If you need to resize this tensor, you have the following options:\n"
    "    1. For both sparse and dense dimensions, keep the number of them constant and the size of them non-shrinking, "
    "and then try the same call again.\n"
    "    2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor."
)


def _not_resizable(what: str) -> RuntimeError:
    return RuntimeError(what + _WAYS_OUT)


# -------------------- without elements --------------------


def zero(input: SparseArray, out: SparseArray | None = None) -> SparseArray:
    return (input if out is None else out).become(_without_elements(input, input.dtype))


def zeros_like(input: SparseArray, dtype: Any = None, layout: Any = None, *options: Any) -> Any:
    target = input.dtype if dtype is None else dtype.numpy
    return np.zeros(input.shape, target) if layout is strided else _without_elements(input, target)


def _without_elements(input: SparseArray, dtype: np.dtype) -> SparseArray:
    values = np.zeros((0, *input.values.shape[1:]), dtype)
    return SparseArray(np.zeros((input.sparse_dim, 0), np.int64), values, input.shape, True)


def zeros(size: Sequence[int], dtype: Any = None, *options: Any) -> SparseArray:
    values = np.zeros(0, (dtype or state.default_dtype).numpy)
    return SparseArray(np.zeros((len(size), 0), np.int64), values, tuple(size), True)


register_kernels(
    "SparseCPU",
    {
        "_to_copy": to_copy,
        "clone": clone,
        "copy_": copy,
        "detach": detach,
        "empty.memory_format": zeros,
        "empty_like": zeros_like,
        "zero_": zero,
        "zeros": zeros,
        "zeros_like": zeros_like,
    },
)
