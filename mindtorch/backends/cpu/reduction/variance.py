"""Kernels of variance and standard deviation, alone or with the mean."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import COMPLEX, DOUBLE, FLOAT, is_integral, real_number, real_of
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import is_all
from mindtorch._support.warnings import warn
from mindtorch.backends.cpu.common.computing import FLOATS
from mindtorch.backends.cpu.common.reducing import as_computed, count, reduced_by, store
from mindtorch.backends.cpu.common.summing import (
    add_up,
    add_up_rows,
    average,
    can_add_up_directly,
    dot_rows,
    doubtful,
    recentred,
)
from mindtorch.backends.cpu.compiled.choice import IS_ON, RowLoop
from mindtorch.iterator import check_result_dtype, reduced_dims, reduced_shape
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray
Dims = Any


def var(
    input: Array, dim: Dims = None, correction: float | None = None, keepdim: bool = False, out: Array | None = None
) -> Array:
    return _stored(_variance("var", input, dim, correction, keepdim), input, out)


def std(
    input: Array, dim: Dims = None, correction: float | None = None, keepdim: bool = False, out: Array | None = None
) -> Array:
    return _stored(quiet(np.sqrt, _variance("std", input, dim, correction, keepdim)), input, out)


def _stored(result: Array, input: Array, out: Array | None) -> Array:
    dtype = real_of(input.dtype)
    if out is not None:
        check_result_dtype(dtype, out.dtype)
    return store(result, dtype, out)


def var_mean(
    input: Array, dim: Dims = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Array, Array]:
    mean = _mean("var_mean", input, dim, keepdim)
    return store(_variance("var_mean", input, dim, correction, keepdim), real_of(input.dtype), None), mean


def std_mean(
    input: Array, dim: Dims = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Array, Array]:
    mean = _mean("std_mean", input, dim, keepdim)
    deviation = quiet(np.sqrt, _variance("std_mean", input, dim, correction, keepdim))
    return store(deviation, real_of(input.dtype), None), mean


def _mean(op: str, input: Array, dim: Dims, keepdim: bool) -> Array:
    if is_integral(input.dtype):
        raise RuntimeError(f"{op} only support floating point and complex dtypes")
    values, dims = as_computed(input, input.dtype), reduced_dims(dim, input.ndim)
    mean = quiet(average, values, dims)
    if mean.dtype is FLOAT and not is_all(np.isfinite(mean)):
        mean = quiet(average, values.astype(DOUBLE), dims)
    return store(mean if keepdim else mean.squeeze(dims), input.dtype, None)


def _variance(op: str, input: Array, dim: Dims, correction: float | None, keepdim: bool) -> Array:
    if input.dtype not in FLOATS and is_integral(input.dtype):
        raise RuntimeError("std and var only support floating point and complex dtypes")
    dims = reduced_dims(dim, input.ndim)
    elements = count(input.shape, dims)
    freedom = elements - (1 if correction is None or correction == 1 else real_number(correction))
    if freedom <= 0:
        warn(
            f"{op}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
            "numel divided by output numel).",
            UserWarning,
        )
    divisor = freedom if freedom > 0 and elements else 0
    return quiet(_mean_square_deviation, as_computed(input, input.dtype), dims, keepdim, divisor)


def _mean_square_deviation(values: Array, dims: tuple[int, ...], keepdim: bool, freedom: float) -> Array:
    if values.dtype in COMPLEX:
        parts = (_mean_square_deviation(part, dims, keepdim, freedom) for part in (values.real, values.imag))
        return np.add(*parts)
    total = _squared_deviation(values, dims)
    if total.dtype is FLOAT and not _are_exact(total, count(values.shape, dims)):
        total = _squared_deviation(values.astype(DOUBLE), dims)
    shape = reduced_shape(values.shape, dims, keepdim)
    if total.shape != shape:
        total = total.reshape(shape)
    return np.divide(total, kept_constant(freedom, total.dtype))


_LEAST_SQUARE = float(np.finfo(np.float32).tiny)


def _are_exact(totals: Array, number: int) -> bool:
    """Whether sums of so many squares in single precision have neither overflown nor lost digits below the least.

    What is left is squared in double precision, as PyTorch does always; also zeros, which may be those of equal values.
    """
    if not totals.size:
        return True
    return totals.item(totals.argmin()) >= number * _LEAST_SQUARE and totals.item(totals.argmax()) < np.inf


_SQUARED_DEVIATION = RowLoop("squared_deviation")


def _squared_deviation(values: Array, dims: tuple[int, ...]) -> Array:
    """The sums of the squares of the distances from the mean, in the order of the result."""
    if IS_ON and (found := reduced_by(_SQUARED_DEVIATION, values, dims, False, shortest=1)) is not None:
        return found
    if dims == (values.ndim - 1,) and can_add_up_directly(values):
        return _of_rows(values.reshape(-1, values.shape[-1]))
    mean = average(values, dims)
    total = _sum_of_squares(values - mean, dims)
    where = doubtful(total, mean, count(values.shape, dims))
    return total if where is None else _sum_of_squares(recentred(values, mean, where, dims)[1], dims)


def _of_rows(rows: Array) -> Array:
    length = rows.shape[1]
    mean = add_up_rows(rows)
    mean /= kept_constant(length, rows.dtype)
    distances = rows - mean[:, None]
    total = dot_rows(distances, distances)
    where = doubtful(total, mean, length)
    if where is None:
        return total
    distances = recentred(rows, mean[:, None], where[:, None], (1,))[1]
    return dot_rows(distances, distances)


def _sum_of_squares(values: Array, dims: tuple[int, ...]) -> Array:
    """It may be written over the values."""
    if dims and dims == tuple(range(dims[0], values.ndim)) and can_add_up_directly(values):
        rows = values.reshape(-1, count(values.shape, dims))
        return dot_rows(rows, rows).reshape(values.shape[: dims[0]] + (1,) * len(dims))
    values *= values
    return add_up(values, dims, True)
