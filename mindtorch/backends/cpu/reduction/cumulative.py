"""Kernels of running sums, products, extremes and logarithms of sums along one dimension."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import BOOL, COMPLEX, DOUBLE, INT64, is_integral, promote
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import moveaxis
from mindtorch.backends.cpu.common.arithmetic import log1p_of_complex
from mindtorch.backends.cpu.common.reducing import (
    as_computed,
    one_dim,
    running_product,
    running_sum,
    scalar_name,
    store,
    sum_dtype,
)
from mindtorch.backends.cpu.common.unsupported_dtypes import INTEGRAL_OR_BOOL, not_implemented
from mindtorch.backends.cpu.compiled.choice import IS_ON, RowLoop
from mindtorch.iterator import check_distinct

Array = np.ndarray
Pair = tuple[Array, Array]
NumpyDtype = np.dtype[Any]
Running = Callable[[Array, int, NumpyDtype], Array]


# -------------------- sums and products --------------------


def cumsum(input: Array, dim: int, dtype: Dtype | None = None, out: Array | None = None) -> Array:
    return _running("cumsum_out_cpu", _RUNNING_SUM, input, dim, dtype, out)


def cumprod(input: Array, dim: int, dtype: Dtype | None = None, out: Array | None = None) -> Array:
    return _running("cumprod_out_cpu", _RUNNING_PRODUCT, input, dim, dtype, out)


def _compiled_in_double(name: str, function: Running) -> Running:
    """The function, which leaves float64 and float32 to the compiled kernel of this name, if there is one."""
    rows = RowLoop(name)
    if not IS_ON:
        return function

    def run(values: Array, axis: int, wide: NumpyDtype) -> Array:
        loop = rows.of(values) if wide == DOUBLE else None
        if loop is None:
            return function(values, axis, wide)
        return loop(values, np.empty(values.shape, values.dtype), axis=axis)

    return run


_RUNNING_SUM = _compiled_in_double("cumsum", running_sum)
_RUNNING_PRODUCT = _compiled_in_double("cumprod", running_product)


def _running(kernel: str, function: Running, input: Array, dim: int, dtype: Dtype | None, out: Array | None) -> Array:
    """In double precision, as torch does for float32; of 16 bits in float32."""
    target = sum_dtype(input, dtype, out)
    values, axis = one_dim(input, dim)
    if target == BOOL and input.ndim and input.size:
        raise not_implemented(kernel, BOOL)[BOOL](BOOL)
    if out is not None:
        check_distinct(out)
    computed = as_computed(values, target)
    wide = computed.dtype if is_integral(target) or target.itemsize == 2 else promote(DOUBLE, computed.dtype)
    result = quiet(function, computed, axis, wide)
    return store(result.reshape(input.shape), target, out)


# -------------------- extremes --------------------


def cummax(input: Array, dim: int, out: Pair | None = None) -> Pair:
    return _running_extreme("cummax_cpu", np.maximum, input, dim, out)


def cummin(input: Array, dim: int, out: Pair | None = None) -> Pair:
    return _running_extreme("cummin_cpu", np.minimum, input, dim, out)


def _running_extreme(kernel: str, extreme: np.ufunc, input: Array, dim: int, out: Pair | None) -> Pair:
    """The index is that of the last element so far that reaches the extremum, as does nan."""
    if not input.ndim and dim not in (-1, 0):
        raise IndexError(f"{kernel.removesuffix('_cpu')}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    values, axis = one_dim(input, dim if input.size else -1)  # of an empty tensor, torch never looks at it
    values_out, indices_out = out or (None, None)
    _check_out(values_out, input.dtype)
    _check_out(indices_out, INT64)
    if input.dtype in COMPLEX and input.ndim and input.size:
        raise not_implemented(kernel, *COMPLEX)[input.dtype](input.dtype)
    computed = as_computed(values, input.dtype)
    extremes = quiet(extreme.accumulate, computed, axis)
    reached = (computed == extremes) | (computed != computed)
    places = np.arange(computed.shape[axis]).reshape([-1 if each == axis else 1 for each in range(computed.ndim)])
    indices = np.maximum.accumulate(np.where(reached, places, 0), axis)
    return (
        store(extremes.reshape(input.shape), input.dtype, values_out),
        store(indices.reshape(input.shape), INT64, indices_out),
    )


def _check_out(out: Array | None, dtype: NumpyDtype) -> None:
    if out is not None and out.dtype != dtype:
        raise RuntimeError(f"expected scalar_type {scalar_name(dtype)} but found {scalar_name(out.dtype)}")


# -------------------- logarithms of sums --------------------

_NO_LOGCUMSUMEXP = not_implemented("logcumsumexp_out_cpu", *INTEGRAL_OR_BOOL)


def logcumsumexp(input: Array, dim: int, out: Array | None = None) -> Array:
    values, axis = one_dim(input, dim)
    _check_out(out, input.dtype)
    if input.dtype in _NO_LOGCUMSUMEXP:
        raise _NO_LOGCUMSUMEXP[input.dtype](input.dtype)
    computed = as_computed(values, input.dtype)
    if input.dtype in COMPLEX:
        result = quiet(_complex_logcumsumexp, computed.astype(np.complex128), axis)
    else:  # in double precision, for the errors of all steps add up
        result = quiet(np.logaddexp.accumulate, computed, axis, np.float64) if input.size else computed.copy()
    return store(result.reshape(input.shape), input.dtype, out)


def _complex_logcumsumexp(values: Array, axis: int) -> Array:
    result = values.copy()
    rows = moveaxis(result, axis, 0)
    total = np.full_like(rows[:1], -np.inf)[0] if len(rows) else rows
    for row in range(len(rows)):
        total = rows[row] = _log_add_exp(total, rows[row])
    return result


def _log_add_exp(a: Array, b: Array) -> Array:
    """log(exp(a) + exp(b)): the larger one, or `b`, is taken out of the sum. The logarithm of nothing has no angle."""
    is_larger = a.real > b.real
    large, small = np.where(is_larger, a, b), np.where(is_larger, b, a)
    finite = log1p_of_complex(np.exp(small - large)) + large
    infinite = np.where(large.real < 0, -np.inf, np.log(np.exp(large) + np.exp(small)))
    total = np.where(np.isinf(large.real) & (large.real == small.real), infinite, finite)
    return np.where(np.isnan(a) | np.isnan(b), complex(np.nan, np.nan), total)
