"""What arithmetic compressed sparse tensors have.

These kernels belong to ops of other families; they are registered here, as a backend outside of the tree would do it.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from mindtorch._core import promotion, state
from mindtorch._core.geometry import wrap_dim
from mindtorch._core.layout import sparse_csr
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.cpu.common.computing import MIXED
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecpu.copies import clone, detach
from mindtorch.backends.sparsecpu.pointwise import on_values_kernels
from mindtorch.backends.sparsecpu.products import mm as mm_of_coordinates
from mindtorch.backends.sparsecpu.shapes import select as select_of_coordinates
from mindtorch.backends.sparsecsrcpu.array import CompressedArray
from mindtorch.backends.sparsecsrcpu.conversion import to_coordinates, to_layout
from mindtorch.backends.sparsecsrcpu.sparse import masked
from mindtorch.dispatch.registry import kernel_table, register_kernels

# torch refuses these with a text of its own.
_REFUSED = (
    "acos acosh atan2 cos cosh digamma div.Tensor eq.Scalar eq.Tensor exp exp2 fmod.Scalar fmod.Tensor ge.Scalar"
    " ge.Tensor gt.Scalar gt.Tensor le.Scalar le.Tensor lgamma log log10 log2 lt.Scalar lt.Tensor maximum minimum"
    " ne.Scalar ne.Tensor pow.Tensor_Scalar pow.Tensor_Tensor reciprocal remainder.Scalar remainder.Tensor rsqrt"
    " sigmoid sub.Tensor"
).split()


def _refused(input: Any, *args: Any, **options: Any) -> NoReturn:
    layouts = (each.layout.shown for each in (input, *args) if isinstance(each, CompressedArray))
    raise RuntimeError(f"unsupported tensor layout: {next(layouts)}")


def _deliver(result: CompressedArray, out: CompressedArray | None) -> CompressedArray:
    return result if out is None else out.become(result)


# -------------------- sums and products of elements --------------------


def add(input: CompressedArray, other: Any, alpha: Any = 1, out: Any = None) -> Any:
    """compressed + compressed is compressed, compressed + dense is dense."""
    if not isinstance(other, CompressedArray | SparseArray) and np.ndim(other):
        _check_dense_shape(input, other)
        dense = kernel_table("add.Tensor")[np.ndarray]
        return dense(input.to_dense(), other, alpha)
    _check_same_shape(input, other)
    dtype = promotion.common_dtype(input, other)
    first, second = to_coordinates(input), to_coordinates(_in_layout_of(input, other))
    values = np.concatenate([first.values.astype(dtype), (second.values * alpha).astype(dtype)])
    both = SparseArray(np.concatenate([first.indices, second.indices], axis=1), values, input.shape, False)
    return _deliver(to_layout(both.coalesce(), input.layout, _block(input), None), out)


def _block(input: CompressedArray) -> tuple[int, int] | None:
    return input.blocksize if input.layout.is_blocked else None


def _check_dense_shape(input: CompressedArray, other: Any) -> None:
    if np.shape(other) != input.shape:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(np.shape(other))} while "
            f"other has size {list(input.shape)} (FYI: op2-sparse addition does not currently support broadcasting)"
        )


def _check_same_shape(input: CompressedArray, other: Any) -> None:
    if not isinstance(other, CompressedArray):
        _check_dense_shape(input, other)
    if input.shape != other.shape:
        raise RuntimeError(
            "torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape "
            f"{list(input.shape)} and tensor `other` with shape {list(other.shape)}"
        )


def _in_layout_of(input: CompressedArray, other: CompressedArray) -> CompressedArray:
    if input.layout is not other.layout:
        which = "row" if input.layout.by_rows else "column"
        raise RuntimeError(
            f"{input.part_names()[0]} expected sparse {which} compressed tensor layout but got {other.layout.shown}"
        )
    return other


def mul(input: CompressedArray, other: Any, out: CompressedArray | None = None) -> CompressedArray:
    """compressed * number, and compressed * anything of its shape: the result is as sparse as the sparser one."""
    if isinstance(other, CompressedArray):
        return _deliver(_common_places(input, other), out)
    if isinstance(other, np.ndarray) and other.ndim:
        other = masked(other, input).values
    values = (input.values * other).astype(promotion.common_dtype(input, other), copy=False)
    return _deliver(input.with_values(values), out)


def _common_places(input: CompressedArray, other: CompressedArray) -> CompressedArray:
    """The products at the places that both have."""
    both = input.with_values(np.ones_like(input.values, bool)).to_dense()
    both &= other.with_values(np.ones_like(other.values, bool)).to_dense()
    product = SparseArray(np.stack(np.nonzero(both)), (input.to_dense() * other.to_dense())[both], input.shape, True)
    return to_layout(product, input.layout, _block(input), None)


def ldexp(input: CompressedArray, other: Any, out: CompressedArray | None = None) -> CompressedArray:
    return mul(input, np.exp2(np.asarray(other).astype(promotion.int_to_float(other))), out)


def _mixed(op: Any, dense: Any, own: CompressedArray, out: Any = None) -> Any:
    """An op of a dense array and a compressed one: the sum is dense, the product compressed."""
    function = op.loops.get(np.dtype(np.float32))
    if function is np.multiply:
        return mul(own, np.asarray(dense), out)
    if function is not np.add:
        raise RuntimeError(f"unsupported tensor layout: {own.layout.shown}")
    dense = np.asarray(dense)
    _check_dense_shape(own, dense)
    return kernel_table("add.Tensor")[np.ndarray](dense, own.to_dense(), out=out)


MIXED[CompressedArray] = _mixed

# -------------------- copies and views --------------------


def fill(input: CompressedArray, value: Any, out: CompressedArray | None = None) -> CompressedArray:
    """All values there are; what is not there stays 0."""
    kernel_table("fill_.Scalar")[np.ndarray](input.values, value, out=input.values)
    return input


def zero(input: CompressedArray, out: CompressedArray | None = None) -> CompressedArray:
    return (input if out is None else out).become(_zeros(input, input.dtype))


def zeros_like(input: CompressedArray, dtype: Any = None, *options: Any) -> CompressedArray:
    return _zeros(input, input.dtype if dtype is None else dtype.numpy)


def ones_like(input: CompressedArray, dtype: Any = None, *options: Any) -> CompressedArray:
    return input.with_values(np.ones_like(input.values, None if dtype is None else dtype.numpy))


def _zeros(input: CompressedArray, dtype: np.dtype) -> CompressedArray:
    batch = input.batch_ndim
    plain = np.zeros((*input.plain.shape[:batch], 0), input.plain.dtype)
    values = np.zeros((*input.values.shape[:batch], 0, *input.values.shape[batch + 1 :]), dtype)
    return CompressedArray(np.zeros_like(input.compressed), plain, values, input.shape, input.layout)


def zeros(size: Sequence[int], dtype: Any = None, layout: Any = None, *options: Any) -> CompressedArray:
    if layout.is_blocked:
        raise RuntimeError(
            f"empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got {layout.shown}"
        )
    if len(size) < 2:
        raise RuntimeError(
            f"torch.zeros: Only batched sparse compressed (non-block) tensors are supported, but got size {list(size)}"
        )
    *batch, rows, columns = size
    starts = np.zeros((*batch, (rows if layout.by_rows else columns) + 1), np.int64)
    values = np.zeros((*batch, 0), (dtype or state.default_dtype).numpy)
    return CompressedArray(starts, np.zeros((*batch, 0), np.int64), values, tuple(size), layout)


def to_copy(input: CompressedArray, dtype: Any = None, *options: Any) -> CompressedArray:
    copied = input.copy()
    return copied if dtype is None else copied.astype(dtype.numpy)


def copy(input: CompressedArray, src: Any, non_blocking: bool = False, out: Any = None) -> CompressedArray:
    if not isinstance(src, CompressedArray) or src.layout is not input.layout:
        raise RuntimeError("copy of sparse compressed tensors having different layouts is not supported.")
    return input.become(src.astype(input.dtype))


def transpose(input: CompressedArray, dim0: int, dim1: int) -> CompressedArray:
    dim0, dim1 = wrap_dim(dim0, input.ndim), wrap_dim(dim1, input.ndim)
    if dim0 == dim1:
        return detach(input)
    kinds = [_kind_of_dim(input, dim) for dim in (dim0, dim1)]
    if kinds != ["Sparse", "Sparse"]:
        raise RuntimeError(
            "transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got "
            f"{dim0}({kinds[0]}) and {dim1}({kinds[1]})"
        )
    shape = list(input.shape)
    shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
    return input.transposed(tuple(shape))


def _kind_of_dim(input: CompressedArray, dim: int) -> str:
    return ("Batch", "Sparse", "Dense")[(dim >= input.batch_ndim) + (dim >= input.batch_ndim + 2)]


def t(input: CompressedArray) -> CompressedArray:
    return transpose(input, 0, 1)


def select(input: CompressedArray, dim: int, index: int) -> Any:
    """One row or column, in coordinate form; one of the matrices, if there are several."""
    dim = wrap_dim(dim, input.ndim)
    if dim >= input.batch_ndim:
        result = select_of_coordinates(to_coordinates(input).coalesce(), dim, index)
        if isinstance(result, SparseArray):
            result.coalesced = True
        return result
    compressed, plain, values = (
        np.take(part, index, axis=dim) for part in (input.compressed, input.plain, input.values)
    )
    return CompressedArray(compressed, plain, values, input.shape[:dim] + input.shape[dim + 1 :], input.layout)


def unbind(input: CompressedArray, dim: int = 0) -> list[Any]:
    dim = wrap_dim(dim, input.ndim)
    return [select(input, dim, index) for index in range(input.shape[dim])]


# -------------------- sums and products of matrices --------------------


def sum(input: CompressedArray, dtype: Any = None) -> np.ndarray:
    target = promotion.sum_of(input.values) if dtype is None else dtype.numpy
    return np.asarray(input.values.sum(dtype=target), target)


def sum_dim(
    input: CompressedArray, dim: Sequence[int] | None, keepdim: bool = False, dtype: Any = None, out: Any = None
) -> CompressedArray:
    if not keepdim:
        raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
    if not input.layout.by_rows or input.layout.is_blocked:
        raise RuntimeError(
            "Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got layout "
            f"{input.layout.shown}"
        )
    dims = tuple(range(input.ndim)) if not dim else tuple(each % input.ndim for each in dim)
    rows, columns = to_coordinates(input).indices
    places = np.stack([np.zeros_like(row) if axis in dims else row for axis, row in enumerate((rows, columns))])
    shape = tuple(1 if axis in dims else length for axis, length in enumerate(input.shape))
    values = input.values.astype(promotion.sum_of(input.values) if dtype is None else dtype.numpy)
    return to_layout(SparseArray(places, values, shape, False).coalesce(), input.layout, None, None)


def mm(input: CompressedArray, mat2: Any, out: np.ndarray | None = None) -> Any:
    """compressed @ dense is dense, compressed @ compressed is compressed."""
    _check_product(input, mat2)
    if isinstance(mat2, CompressedArray):
        for each in (input, mat2):
            if each.layout.is_blocked:
                raise RuntimeError(
                    "zeros_sparse_compressed expected sparse compressed (non-block) tensor layout but got "
                    f"{each.layout.shown}"
                )
        product = mm_of_coordinates(to_coordinates(input), to_coordinates(mat2))
        return to_layout(product, sparse_csr, None, None)
    if input.dtype.kind not in "fc":
        raise NotImplementedError(f"\"addmm_out_sparse_csr_impl_mkl\" not implemented for '{scalar_name(input)}'")
    return input.dot(mat2, out)


def _check_product(input: CompressedArray, mat2: Any) -> None:
    if input.shape[1] != mat2.shape[0]:
        (rows, inner), (length, columns) = input.shape, mat2.shape
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {length}x{columns})")
    if input.dtype != mat2.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(mat2)}")


def mv(input: CompressedArray, vec: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if input.shape[1] != len(vec):
        rows, columns = input.shape
        raise RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({len(vec)})")
    result = mm(input, vec[:, None])[:, 0]
    if out is None:
        return result
    out[...] = result
    return out


register_kernels(
    "SparseCsrCPU",
    {
        **dict.fromkeys(_REFUSED, _refused),
        **on_values_kernels(lambda input: input, also="angle"),
        "_to_copy": to_copy,
        "add.Tensor": add,
        "clone": clone,
        "fill_.Scalar": fill,
        "ldexp.Tensor": ldexp,
        "copy_": copy,
        "detach": detach,
        "empty_like": zeros_like,
        "mm": mm,
        "mul.Tensor": mul,
        "mv": mv,
        "ones_like": ones_like,
        "select.int": select,
        "sum": sum,
        "sum.dim_IntList": sum_dim,
        "t": t,
        "transpose.int": transpose,
        "unbind.int": unbind,
        "zero_": zero,
        "zeros": zeros,
        "zeros_like": zeros_like,
    },
)
