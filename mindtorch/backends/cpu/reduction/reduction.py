"""Kernels of the reductions: sums, extremes, truth, norms. Results are row-major, as in torch."""

import math
from typing import Any

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import (
    BOOL,
    COMPLEX,
    DOUBLE,
    FLOAT,
    INT64,
    UINT8,
    UINT64,
    UNSIGNED,
    can_convert,
    float_of,
    is_integral,
    real_of,
)
from mindtorch._support.float_errors import quiet, run_quietly
from mindtorch._support.numpy_functions import take_along_last
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.computing import widened
from mindtorch.backends.cpu.common.reducing import (
    as_computed,
    check_out_dtype,
    count,
    multiply_up,
    nonempty_dims,
    one_dim,
    reduced_by,
    scalar_name,
    store,
    sum_dtype,
)
from mindtorch.backends.cpu.common.rowwise import MANY_ROWS, reduce_rows
from mindtorch.backends.cpu.common.summing import ONES, add_up, add_up_directly, add_up_rows, can_add_up_directly
from mindtorch.backends.cpu.common.unsupported_dtypes import not_implemented, raising
from mindtorch.backends.cpu.compiled.choice import RowLoop
from mindtorch.iterator import check_distinct, check_result_dtype, reduced_dims

Array = np.ndarray
Dims = Any  # int, sequence of ints or None


# -------------------- sums and products --------------------

_SMALL = 1024  # elements that one product with ones adds up


def sum(input: Array, dtype: Dtype | None = None) -> Array:
    own = input.dtype
    if dtype is None and (own is FLOAT or own is DOUBLE) and input.flags.c_contiguous and input.size:
        if input.size > _SMALL:
            return quiet(add_up_rows, input.reshape(1, -1)).reshape(())
        flat, ones, total = input.ravel(), ONES[own][input.size], np.empty((), own)
        try:
            run_quietly(flat.dot, ones, total)
        except RuntimeError:
            quiet(flat.dot, ones, total)
        return total
    return sum_dim(input, None, False, dtype)


def sum_dim(
    input: Array, dim: Dims, keepdim: bool = False, dtype: Dtype | None = None, out: Array | None = None
) -> Array:
    target = sum_dtype(input, dtype, out)
    dims = reduced_dims(dim, input.ndim)
    if out is None and input.dtype is target and dims and can_add_up_directly(input):
        return quiet(add_up_directly, input, dims, keepdim)
    return store(quiet(add_up, as_computed(input, target), dims, keepdim), target, out)


def nansum(
    input: Array, dim: Dims = None, keepdim: bool = False, dtype: Dtype | None = None, out: Array | None = None
) -> Array:
    if input.dtype.kind == "c":
        reduced_dims(dim, input.ndim)  # which are refused first
        raise RuntimeError("nansum on CPU does not support complex inputs")
    has_nans = input.dtype.kind in "fV"
    target = dtype.numpy if dtype is not None else input.dtype if out is None else out.dtype
    if has_nans and (target.kind == "c" or dtype is None and target.kind in "biu"):
        raise checks.not_implemented("nansum_cpu", np.empty(0, target))
    if input.dtype.kind == "f" and out is None and dtype is None:  # a sum that is a number had no other terms
        total = sum_dim(input, dim, keepdim, dtype)
        if not np.count_nonzero(np.isnan(total)):
            return total
    return sum_dim(np.where(np.isnan(input), 0, input) if has_nans else input, dim, keepdim, dtype, out)


def mean(input: Array, dtype: Dtype | None = None, out: Array | None = None) -> Array:
    if out is not None and not can_convert(input.dtype if dtype is None else dtype.numpy, out.dtype):
        name = scalar_name(out.dtype)
        raise RuntimeError(f"mean.dtype_out(): input types can't be cast to the desired output type {name}")
    return mean_dim(input, None, False, dtype, out)


def mean_dim(
    input: Array, dim: Dims, keepdim: bool = False, dtype: Dtype | None = None, out: Array | None = None
) -> Array:
    _check_mean_dtype("Input" if dtype is None else "Optional", input.dtype if dtype is None else dtype.numpy)
    if dtype is not None:
        check_out_dtype(out, dtype.numpy)
    elif out is not None:
        check_result_dtype(real_of(input.dtype), out.dtype)
    if out is not None:
        check_distinct(out)
    target = dtype.numpy if dtype is not None else input.dtype if out is None else out.dtype
    dims = reduced_dims(dim, input.ndim)
    total = quiet(add_up, as_computed(input, widened(target)), dims, keepdim)
    return store(quiet(np.divide, total, total.dtype.type(count(input.shape, dims))), target, out)


def _check_mean_dtype(which: str, dtype: np.dtype[Any]) -> None:
    if is_integral(dtype):
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_name(dtype)}"
        )


def prod(input: Array, dtype: Dtype | None = None) -> Array:
    return _prod(input, None, False, dtype, None)


def prod_dim(
    input: Array, dim: int, keepdim: bool = False, dtype: Dtype | None = None, out: Array | None = None
) -> Array:
    return _prod(input, dim, keepdim, dtype, out)


def _prod(input: Array, dim: int | None, keepdim: bool, dtype: Dtype | None, out: Array | None) -> Array:
    target = sum_dtype(input, dtype, out)
    dims = reduced_dims(dim, input.ndim)
    computed = as_computed(input, target)
    return store(quiet(multiply_up, computed, dims, keepdim), target, out)


# -------------------- extremes --------------------

_NO_MAX_ALL = not_implemented("max_all", *COMPLEX)
_NO_MIN_ALL = not_implemented("min_all", *COMPLEX)
_NO_AMAX = not_implemented("max_values_cpu", *COMPLEX)
_NO_AMIN = not_implemented("min_values_cpu", *COMPLEX)


def _refuse(input: Array, unsupported: dict[Any, Any]) -> None:
    if input.dtype in unsupported:
        raise unsupported[input.dtype](input.dtype)


_LONG_WALK = 1 << 28  # elements


def _extreme(op: str, function: Any, unsupported: dict[Any, Any], input: Array, dim: Dims, keepdim: bool) -> Array:
    dims = nonempty_dims(op, input, dim, shown=dim)
    size = input.size
    if size:
        _refuse(input, unsupported)
    if size >= _LONG_WALK:
        aligned.check_walk(input)
    if size < MANY_ROWS:
        return quiet(function.reduce, as_computed(input, input.dtype), dims, None, None, keepdim)
    return quiet(reduce_rows, function, as_computed(input, input.dtype), dims, keepdim)


def amax(input: Array, dim: Dims = (), keepdim: bool = False, out: Array | None = None) -> Array:
    _check_equal_dtypes(input, out)
    return store(_extreme("amax", np.maximum, _NO_AMAX, input, dim, keepdim), input.dtype, out)


def amin(input: Array, dim: Dims = (), keepdim: bool = False, out: Array | None = None) -> Array:
    _check_equal_dtypes(input, out)
    return store(_extreme("amin", np.minimum, _NO_AMIN, input, dim, keepdim), input.dtype, out)


_NO_HASH = not_implemented("xor_sum_cpu", *COMPLEX, *UNSIGNED)


def hash_tensor(input: Array, dim: Dims = (), keepdim: bool = False, mode: int = 0, out: Array | None = None) -> Array:
    """The bits of the elements, as float64 or int64, combined by exclusive or: the same in every order."""
    if out is not None and out.dtype != UINT64:
        raise RuntimeError(f"Expected result to be of dtype uint64, but got {scalar_name(out.dtype)}")
    dims = nonempty_dims("hash_tensor", input, dim, shown=dim, call="")
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if input.size:
        _refuse(input, _NO_HASH)
    bits = as_computed(input, INT64 if is_integral(input.dtype) else DOUBLE).view(UINT64)
    return store(np.bitwise_xor.reduce(bits, dims, None, None, keepdim), UINT64, out)


def _check_equal_dtypes(input: Array, out: Array | None) -> None:
    if out is not None and out.dtype != input.dtype:
        raise RuntimeError(
            f"Expected the dtype for input and out to match, but got {scalar_name(input.dtype)} for input's dtype and "
            f"{scalar_name(out.dtype)} for out's dtype."
        )


def max(input: Array, out: Array | None = None) -> Array:
    _check_convertible(input, out)
    return store(_extreme("max", np.maximum, _NO_MAX_ALL, input, None, False), input.dtype, out)


def min(input: Array, out: Array | None = None) -> Array:
    _check_convertible(input, out)
    return store(_extreme("min", np.minimum, _NO_MIN_ALL, input, None, False), input.dtype, out)


def _check_convertible(input: Array, out: Array | None) -> None:
    if out is not None and not can_convert(input.dtype, out.dtype):
        raise RuntimeError(
            "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but "
            "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
            "PyTorch.)"
        )


Pair = tuple[Array, Array]
_ARGMAX, _ARGMIN = np.ndarray.argmax, np.ndarray.argmin  # without the question who else may want to answer


def max_dim(input: Array, dim: int, keepdim: bool = False, out: Pair | None = None) -> Pair:
    return _extreme_and_index("max", np.maximum, _ARGMAX, input, dim, keepdim, out)


def min_dim(input: Array, dim: int, keepdim: bool = False, out: Pair | None = None) -> Pair:
    return _extreme_and_index("min", np.minimum, _ARGMIN, input, dim, keepdim, out)


def _extreme_and_index(
    op: str, function: Any, search: Any, input: Array, dim: int, keepdim: bool, out: Pair | None
) -> Pair:
    nonempty_dims(op, input, dim)
    if input.dtype in COMPLEX:
        raise RuntimeError(f"{op}(): does not support complex input")
    values_out, indices_out = out or (None, None)
    if out is not None:
        check_out_dtype(values_out, input.dtype)
        check_out_dtype(indices_out, INT64)
    values, axis = one_dim(as_computed(input, input.dtype), dim)
    keepdim = keepdim and input.ndim > 0
    places = _places(search, values, axis, keepdim)
    return (
        store(_extremes(function, values, axis, places, keepdim), input.dtype, values_out),
        store(places, INT64, indices_out),
    )


_MANY = 1 << 13  # elements of which reading them a second time takes longer than to fetch those that were found


def _extremes(function: Any, values: Array, axis: int, places: Array, keepdim: bool) -> Array:
    if values.size < _MANY or axis != values.ndim - 1 or not values.flags.c_contiguous:
        return function.reduce(values, axis, None, None, keepdim)
    found = take_along_last(values, places.reshape(*values.shape[:-1], 1))
    return found if keepdim else found[..., 0]


_NO_INDEX = {
    op: raising(RuntimeError, f"{op}(): does not support bool input", BOOL)
    | raising(RuntimeError, f"{op}(): does not support complex input", *COMPLEX)
    for op in ("argmax", "argmin")
}


def argmax(input: Array, dim: int | None = None, keepdim: bool = False, out: Array | None = None) -> Array:
    return _index("argmax", _ARGMAX, input, dim, keepdim, out)


def argmin(input: Array, dim: int | None = None, keepdim: bool = False, out: Array | None = None) -> Array:
    return _index("argmin", _ARGMIN, input, dim, keepdim, out)


def _index(op: str, search: Any, input: Array, dim: int | None, keepdim: bool, out: Array | None) -> Array:
    _refuse(input, _NO_INDEX[op])
    check_out_dtype(out, INT64)
    if dim is None:
        if not input.size:
            raise IndexError(f"{op}(): Expected reduction dim to be specified for input.numel() == 0.")
    else:
        nonempty_dims(op, input, dim)
    computed = as_computed(input, input.dtype)
    return store(_places(search, computed, dim if input.ndim else None, keepdim), INT64, out)


def _places(search: Any, values: Array, dim: int | None, keepdim: bool) -> Array:
    """Where the searched element is, along a dimension or in the order of rows. (NumPy's `keepdims` takes longer.)"""
    found = search(values, dim)
    if not keepdim:
        return found
    return np.reshape(found, (1,) * values.ndim) if dim is None else np.expand_dims(found, dim)


# -------------------- truth --------------------


def any(input: Array, out: Array | None = None) -> Array:
    return _truth("any", np.logical_or, input, None, False, out)


def any_dim(input: Array, dim: int, keepdim: bool = False, out: Array | None = None) -> Array:
    return _truth("any", np.logical_or, input, dim, keepdim, out)


def all(input: Array, out: Array | None = None) -> Array:
    return _truth("all", np.logical_and, input, None, False, out)


def all_dim(input: Array, dim: int, keepdim: bool = False, out: Array | None = None) -> Array:
    return _truth("all", np.logical_and, input, dim, keepdim, out)


def _truth(op: str, function: Any, input: Array, dim: Dims, keepdim: bool, out: Array | None) -> Array:
    if out is not None and out.dtype not in (BOOL, UINT8):
        raise RuntimeError(f"{op} only supports bool tensor for result, got: {scalar_name(out.dtype)}")
    if out is not None and out.dtype == UINT8 and input.dtype != UINT8:
        input = input.astype(UINT8)  # torch asks whether the converted elements are true
    dims = reduced_dims(dim, input.ndim)
    result = function.reduce(input.astype(bool, copy=False), dims, None, None, keepdim)
    return store(result, UINT8 if input.dtype == UINT8 else BOOL, out)


# -------------------- norms --------------------


def logsumexp(input: Array, dim: Dims, keepdim: bool = False, out: Array | None = None) -> Array:
    dtype = float_of(input.dtype)
    dims = reduced_dims(dim, input.ndim)
    if out is not None:
        if is_integral(out.dtype):
            raise RuntimeError(
                f"logsumexp(): Expected floating point type for result tensor, but got: {scalar_name(out.dtype)}"
            )
        check_distinct(out)
    if input.ndim and input.size and not keepdim and not isinstance(dim, int) and not dim:
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[1] * input.ndim}")
    values = as_computed(input, dtype)
    if not values.size or dtype in COMPLEX:  # the sum goes to `out`, which may be real, before its logarithm is taken
        largest = _finite_maximum(values.real, dims) if values.size else np.zeros((), dtype)
        total = store(quiet(_sum_of_exponentials, values - largest, dims, keepdim), dtype, out)
        total = quiet(np.log, total, out=total)
        return np.add(total, largest.reshape(total.shape) if values.size else largest, out=total)
    return store(quiet(_log_of_sum, values, dims, keepdim), dtype, out)


def _sum_of_exponentials(values: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return add_up(np.exp(values), dims, keepdim)


def _finite_maximum(values: Array, dims: tuple[int, ...]) -> Array:
    largest = reduce_rows(np.maximum, values, dims, True)
    return np.where(np.isinf(largest), largest.dtype.type(0), largest)


_LOGSUMEXP = RowLoop("logsumexp")


def _log_of_sum(values: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    found = reduced_by(_LOGSUMEXP, values, dims, keepdim)
    if found is not None:
        return found
    largest = _finite_maximum(values, dims)
    result = np.log(add_up(np.exp(values - largest), dims, True)) + largest
    return result if keepdim else result.squeeze(dims)


def vector_norm(
    input: Array,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    out: Array | None = None,
) -> Array:
    _check_norm_dtype(input.dtype)
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    ord = float(ord)
    dims = reduced_dims(dim, input.ndim)
    if ord < 0 or ord == math.inf:
        _check_not_empty(ord, input.shape, dim, dims)
    checks.check_asked_dtype("vector_norm", input.dtype, dtype)
    target = input.dtype if dtype is None else dtype.numpy
    check_out_dtype(out, real_of(target))
    result = quiet(_norm, as_computed(input, target), ord, dims, keepdim)
    return store(result, real_of(target), out)


def _check_not_empty(ord: float, shape: tuple[int, ...], dim: Dims, dims: tuple[int, ...]) -> None:
    if count(shape, dims):
        return
    what = "an empty tensor because"
    if dim is not None and dim != () and dim != []:
        named = (dim,) if isinstance(dim, int) else dim
        empty = next(name for name, each in zip(named, dims, strict=True) if not shape[each])
        what = f"the dimension {empty}because this dimension is empty and"
    raise RuntimeError(
        f"linalg.vector_norm cannot compute the {ord:g} norm on {what} the operation does not have an identity"
    )


def _check_norm_dtype(own: np.dtype[Any]) -> None:
    if is_integral(own):
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(own)}"
        )


_EUCLIDEAN_NORM = RowLoop("euclidean_norm")


def _norm(values: Array, ord: float, dims: tuple[int, ...], keepdim: bool) -> Array:
    found = reduced_by(_EUCLIDEAN_NORM, values, dims, keepdim) if ord == 2 else None
    if found is not None:
        return found
    if ord == 0:
        return np.count_nonzero(values, dims, keepdims=keepdim).astype(real_of(values.dtype))
    size = np.abs(values)
    if math.isinf(ord):
        extreme = np.maximum if ord > 0 else np.minimum
        return extreme.reduce(size, dims, None, None, keepdim)
    if ord == 1:
        return add_up(size, dims, keepdim)
    if ord == 2:
        size *= size
        return np.sqrt(add_up(size, dims, keepdim))
    return np.power(add_up(np.power(size, size.dtype.type(ord)), dims, keepdim), size.dtype.type(1 / ord))
