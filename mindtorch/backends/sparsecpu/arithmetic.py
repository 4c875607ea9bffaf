"""Arithmetic of sparse tensors: sums, products and quotients, element by element.

These kernels belong to ops of other families; they are registered here, as a backend outside of the tree would do it.
"""

from typing import Any

import numpy as np

from mindtorch._core import promotion
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._support import errors
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.cpu.common.computing import MIXED
from mindtorch.backends.cpu.common.numbers import is_one
from mindtorch.backends.cpu.common.unsupported_dtypes import BOOL_SUBTRACTED, TWO_BOOLS_SUBTRACTED
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecpu.pointwise import deliver, on_values, on_values_kernels
from mindtorch.dispatch.registry import kernel_table, register_kernels
from mindtorch.iterator.shapes import broadcast_shapes

_mul_dense = kernel_table("mul.Tensor")

# -------------------- sums --------------------


def add(input: SparseArray, other: Any, alpha: Any = 1, out: SparseArray | None = None) -> SparseArray:
    """sparse + sparse: all elements of both, one of each added up where they meet."""
    if not isinstance(other, SparseArray):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    dtype = promotion.common_dtype(input, other)
    _check_addends(input, other, dtype, out)
    is_one(alpha, input, other)  # refuses an alpha of a higher kind
    result = _merged(input.astype(dtype), other.astype(dtype), alpha)
    return deliver(result, out)


def _check_addends(input: SparseArray, other: SparseArray, dtype: np.dtype, out: SparseArray | None) -> None:
    if input.shape != other.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(input.shape)} != {list(other.shape)}"
        )
    if input.sparse_dim != other.sparse_dim and input.nnz and other.nnz:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same density, but 'self' has "
            f"{input.sparse_dim} sparse dimensions while 'other' has {other.sparse_dim} sparse dimensions"
        )
    _check_sum_dtype(dtype, out)
    if dtype == np.bool_:
        raise NotImplementedError("\"cadd_sparse\" not implemented for 'Bool'")


def _check_sum_dtype(dtype: np.dtype, out: Any) -> None:
    if out is not None and not promotion.can_convert(dtype, out.dtype):
        names = (FROM_NUMPY[each].storage_name for each in (dtype, out.dtype))
        raise RuntimeError("Can't convert result type {} to output {} in add operation".format(*names))


def _merged(first: SparseArray, second: SparseArray, alpha: Any) -> SparseArray:
    """Both arrays' elements, taken from the two in turn by their places."""
    if not second.nnz:
        return first.copy()
    if not first.nnz:
        return second.with_values(_times(second.values, alpha))
    length, places, others = _merge(first.keys(), second.keys())
    values = np.zeros((length, *first.values.shape[1:]), first.dtype)
    values[places] = first.values
    values[others] += _times(second.values, alpha)
    indices = np.empty((first.sparse_dim, length), np.int64)
    indices[:, places] = first.indices
    indices[:, others] = second.indices
    result = SparseArray(indices, values, first.shape, False)
    result.coalesced = first.coalesced and second.coalesced
    return result


def _times(values: np.ndarray, factor: Any) -> np.ndarray:
    return values.copy() if factor == 1 else (values * np.asarray(factor, values.dtype)).astype(values.dtype)


def _merge(first: np.ndarray, second: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """How many elements the merged sequence has, and where in it the elements of both are.

    The sequences need not be in order: whichever has the smaller element in front gives it away, and equal ones become
    one. That is what torch does, so that a sum of uncoalesced tensors has as many elements as there.
    """
    if first.size == second.size and (first == second).all():
        return len(first), np.arange(len(first)), np.arange(len(first))
    last = np.iinfo(np.int64).max
    left, right = [*first.tolist(), last], [*second.tolist(), last]
    places, others, length, i, j = [], [], 0, 0, 0
    while i < len(first) or j < len(second):
        a, b = left[i], right[j]
        if a <= b:
            places.append(length)
            i += 1
        if b <= a:
            others.append(length)
            j += 1
        length += 1
    return length, np.asarray(places, np.int64), np.asarray(others, np.int64)


def sub(input: SparseArray, other: Any, alpha: Any = 1, out: SparseArray | None = None) -> SparseArray:
    if input.dtype == np.bool_:
        is_sparse = isinstance(other, SparseArray) and other.dtype == np.bool_
        raise RuntimeError(TWO_BOOLS_SUBTRACTED if is_sparse else BOOL_SUBTRACTED)
    return add(input, other, -alpha, out)


def rsub(input: SparseArray, other: Any, alpha: Any = 1, out: Any = None) -> np.ndarray:
    """dense - sparse."""
    return _sum_with_dense(np.asarray(other), _negative(input), out)


def _negative(array: SparseArray) -> SparseArray:
    if array.dtype == np.bool_:
        raise RuntimeError(BOOL_SUBTRACTED)
    return array.with_values(-array.values)


def _mixed(op: Any, dense: Any, own: SparseArray, out: Any = None) -> Any:
    """An op of a dense array and a sparse one, of which there are three: dense + sparse, - sparse and * sparse."""
    function = op.loops.get(np.dtype(np.float32))
    if function is np.multiply:
        return deliver(mul(own, np.asarray(dense)), out)
    if function not in (np.add, np.subtract):
        raise errors.no_kernel(getattr(function, "__name__", "op"), "SparseCPU", ["CPU"])
    return _sum_with_dense(np.asarray(dense), own if function is np.add else _negative(own), out)


def _sum_with_dense(dense: np.ndarray, own: SparseArray, out: np.ndarray | None) -> np.ndarray:
    _check_same_shape(dense, own)
    dtype = promotion.common_dtype(dense, own)
    _check_sum_dtype(dtype, out)
    result = dense.astype(dtype) if out is None else out
    if out is not None and out is not dense:
        np.copyto(out, dense)
    own.add_to(result)
    return result


def _check_same_shape(dense: np.ndarray, own: SparseArray) -> None:
    if dense.shape != own.shape:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(dense.shape)} while "
            f"other has size {list(own.shape)} (FYI: dense-sparse addition does not currently support broadcasting)"
        )


# -------------------- products and quotients --------------------


def mul(input: SparseArray, other: Any, out: SparseArray | None = None) -> SparseArray:
    """sparse * number, and sparse * anything of its shape: the result is as sparse as the input."""
    if isinstance(other, SparseArray) and other.ndim:
        result = _times_sparse(input, other)
    elif isinstance(other, np.ndarray) and other.ndim:
        result = _times_dense(input, other)
    else:
        factor = other.to_dense() if isinstance(other, SparseArray) else other
        result = input.with_values(_mul_dense[np.ndarray](input.values, factor))
    if out is None:
        return result
    if not promotion.can_convert(result.dtype, out.dtype):
        names = scalar_name(result), scalar_name(out)
        raise RuntimeError(f"dtype of values ({names[0]}) must match dtype of sparse tensor ({names[1]})")
    out.become(result.astype(out.dtype))
    if not isinstance(other, SparseArray):
        out.coalesced = out.nnz < 2
    return out


def _times_dense(input: SparseArray, other: np.ndarray) -> SparseArray:
    """The products at the places of the elements, repeated over the dimensions that only the dense array has."""
    shape = broadcast_shapes(other.shape, input.shape)
    if shape == input.shape:
        return input.with_values(_mul_dense[np.ndarray](input.values, input.picked_from(other)))
    return _times_dense(_expanded(input.coalesce(), shape), other)


def _expanded(input: SparseArray, shape: tuple[int, ...]) -> SparseArray:
    """The same matrix repeated along new dimensions, and along those of length 1 that are to be longer."""
    more = len(shape) - input.ndim
    lengths = (1,) * more + input.shape
    indices, values = np.concatenate([np.zeros((more, input.nnz), np.int64), input.indices]), input.values
    for dim in reversed(range(len(indices))):
        if lengths[dim] != shape[dim]:
            count = shape[dim]
            numbers = np.repeat(np.arange(count), indices.shape[1])
            indices, values = np.tile(indices, count), np.concatenate([values] * count)
            indices[dim] = numbers
    values = np.broadcast_to(values, (len(values), *shape[len(indices) :]))
    return SparseArray(indices, values, shape, input.coalesced)


def _times_sparse(input: SparseArray, other: SparseArray) -> SparseArray:
    """The products at the places that both have; elements at equal places of the one that is searched are added up."""
    if input.shape[: input.sparse_dim] != other.shape[: other.sparse_dim]:
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse "
            "dimensions, and shape of sparse dimensions"
        )
    dtype = promotion.common_dtype(input, other)
    if input.nnz and other.nnz and dtype == np.bool_:
        raise NotImplementedError("\"mul_out_sparse\" not implemented for 'Bool'")
    first, second = input.astype(dtype), other.astype(dtype)
    searched, kept = (first, second) if _is_searched(first, second) else (second, first)
    searched = searched.coalesce()
    keys, wanted = searched.keys(), kept.keys()
    found = np.isin(wanted, keys)
    values = np.zeros_like(kept.values)
    values[found] = kept.values[found] * searched.values[np.searchsorted(keys, wanted[found])]
    if not (first.coalesced and second.coalesced):  # then torch keeps all elements, those that meet none as zeros
        return kept.with_values(values)
    return SparseArray(kept.indices[:, found], values[found], input.shape, kept.coalesced)


def _is_searched(first: SparseArray, second: SparseArray) -> bool:
    """Whether the elements of the second one are kept: the first is the coalesced one, or the larger."""
    if first.coalesced != second.coalesced:
        return first.coalesced
    return first.nnz >= second.nnz


def div(input: SparseArray, other: Any, out: SparseArray | None = None) -> SparseArray:
    """sparse / number."""
    _check_divisor("division", other)
    result = input.with_values(kernel_table("div.Tensor")[np.ndarray](input.values, other))
    return deliver(result, out)


def div_mode(input: SparseArray, other: Any, rounding_mode: str | None = None, out: Any = None) -> SparseArray:
    """sparse / number, rounded: that is not linear, so equal elements are added up before."""
    _check_divisor("division", other)
    own = input if rounding_mode is None else input.coalesce()
    result = own.with_values(kernel_table("div.Tensor_mode")[np.ndarray](own.values, other, rounding_mode))
    return deliver(result, out)


def floor_divide(input: SparseArray, other: Any, out: SparseArray | None = None) -> SparseArray:
    _check_divisor("floor division", other)
    own = input.coalesce()
    return deliver(own.with_values(kernel_table("floor_divide")[np.ndarray](own.values, other)), out)


def _check_divisor(name: str, other: Any) -> None:
    text = f"Sparse {name} requires a scalar or zero-dim dense tensor divisor"
    if isinstance(other, SparseArray | np.ndarray) and other.ndim:
        raise RuntimeError(f"{text} (got shape {list(other.shape)} for divisor)")
    if isinstance(other, SparseArray):
        raise RuntimeError(f"{text} (got a sparse divisor)")


def pow(input: SparseArray, exponent: Any, out: SparseArray | None = None) -> SparseArray:
    if isinstance(exponent, SparseArray | np.ndarray):
        raise errors.no_kernel("pow.Tensor_Tensor", "SparseCPU", ["CPU"])
    if out is input:
        raise errors.no_kernel("pow_.Scalar", "SparseCPU", ["CPU"])
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    own = input.coalesce()
    result = own.with_values(kernel_table("pow.Tensor_Scalar")[np.ndarray](own.values, exponent))
    return deliver(result, own if out is None and result.dtype != own.dtype else out)


def ldexp(input: SparseArray, other: Any, out: SparseArray | None = None) -> SparseArray:
    if isinstance(other, SparseArray) or not other.ndim:
        raise RuntimeError("unsupported tensor layout: Sparse")
    return mul(input, np.exp2(other.astype(promotion.int_to_float(other))), out)


def threshold_backward(
    grad_output: SparseArray, input: SparseArray, threshold: Any, grad_input: Any = None
) -> SparseArray:
    """The gradient where there are elements above the threshold."""
    own = input.coalesce()
    return mul(grad_output, own.with_values((own.values > threshold).astype(own.dtype)))


MIXED[SparseArray] = _mixed
register_kernels(
    "SparseCPU",
    {
        **on_values_kernels(SparseArray.coalesce, also="nan_to_num"),
        "neg": on_values("neg", lambda input: input),  # of sums, it is that of the terms: equal indices may stay
        "add.Tensor": add,
        "div.Tensor": div,
        "div.Tensor_mode": div_mode,
        "floor_divide": floor_divide,
        "ldexp.Tensor": ldexp,
        "mul.Tensor": mul,
        "pow.Tensor_Scalar": pow,
        "rsub.Scalar": rsub,
        "rsub.Tensor": rsub,
        "sub.Tensor": sub,
        "threshold_backward": threshold_backward,
    },
)
