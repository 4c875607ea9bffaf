"""What the reduction kernels share: preparing the operand, checking and storing the result."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core import geometry
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import DOUBLE, FLOAT, INT64, is_integral
from mindtorch._support.numpy_functions import copyto
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.computing import widened
from mindtorch.backends.cpu.common.halves import convert_into, converted
from mindtorch.backends.cpu.common.rowwise import MANY_ROWS, reduce_rows
from mindtorch.backends.cpu.compiled.choice import IS_ON, RowLoop
from mindtorch.iterator import reduced_dims
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray
NumpyDtype = np.dtype[Any]


def scalar_name(dtype: NumpyDtype) -> str:
    return FROM_NUMPY[dtype].storage_name


def as_computed(input: Array, dtype: NumpyDtype) -> Array:
    """The operand converted to `dtype`, and from there to the dtype in which that is computed."""
    own = input.dtype
    if own is dtype and (own is FLOAT or own is DOUBLE):
        return input
    if own != dtype:
        input = converted(_real_if(input, dtype), dtype)
    working = widened(dtype)
    return input if working == dtype else converted(input, working)


def rounded(results: Iterable[Array | None], dtype: NumpyDtype) -> tuple[Array | None, ...]:
    """Several results that were computed as `as_computed` has it, in the dtype of the operands."""
    return tuple([each if each is None or each.dtype == dtype else converted(each, dtype) for each in results])


def _real_if(array: Array, dtype: NumpyDtype) -> Array:
    """The real part, when that is all that `dtype` can hold. A bool tells whether there is anything at all."""
    return array.real if array.dtype.kind == "c" and dtype.kind not in "cb" else array


def store(result: Array, dtype: NumpyDtype, out: Array | None) -> Array:
    """The result in `dtype` as a row-major array or in `out`."""
    if type(result) is not Array:
        result = np.asarray(result)
    if out is None and result.dtype is dtype and result.flags.c_contiguous and 1 not in result.shape:
        return result
    if out is not None:
        if type(out) is Array and out.shape == result.shape and out.dtype is result.dtype:
            copyto(out, result)
            return out
        if iterator.needs_resize(out, result.shape):
            out = np.empty(result.shape, out.dtype)
        convert_into(out, _real_if(result, out.dtype))
        return out
    if result.dtype != dtype:
        result = converted(result, dtype)
    if not result.flags.c_contiguous:
        return result.copy(order="C")
    if 1 in result.shape:  # NumPy leaves any strides in dimensions of size 1
        return result.reshape(-1).reshape(result.shape) if result.ndim > 1 else result.copy()
    return result


# Products of fewer numbers are NumPy's.
_LONG = 1 << 14


_LONG_ROW = 32  # of fewer elements NumPy's loops take many at once


def reduced_by(
    kernel: RowLoop, input: Array, dims: tuple[int, ...], keepdim: bool, shortest: int = _LONG_ROW
) -> Array | None:
    """What a kernel makes of each row along one dimension, or several that are one in memory; None if it cannot."""
    if not IS_ON or kernel.get() is None:
        return None
    rows, axis = input, dims[0] if len(dims) == 1 else -1
    if len(dims) > 1:
        first = input.ndim - len(dims)
        if min(dims) < first or not input.flags.c_contiguous:
            return None
        rows = input.reshape(*input.shape[:first], prod(input.shape[first:]))
    loop = kernel.of(rows) if rows.ndim and rows.shape[axis] >= shortest else None
    if loop is None:
        return None
    result = np.asarray(loop(rows, axis=axis))
    if not keepdim:
        return result
    return result.reshape([1 if dim in dims else length for dim, length in enumerate(input.shape)])


_PROD = RowLoop("prod")


def multiply_up(input: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """A product of many numbers: of the rows of a matrix first, element by element, which NumPy does many at once."""
    found = reduced_by(_PROD, input, dims, keepdim)
    if found is not None:
        return found
    if len(dims) < input.ndim or input.size < _LONG or not input.flags.c_contiguous:
        if input.size < MANY_ROWS:
            return np.multiply.reduce(input, dims, input.dtype, None, keepdim)
        return reduce_rows(np.multiply, input, dims, keepdim)
    flat = input.reshape(-1)
    whole = flat.size - flat.size % _COLUMNS
    columns = np.multiply.reduce(flat[:whole].reshape(-1, _COLUMNS), 0, input.dtype)
    total = np.multiply(np.multiply.reduce(columns), np.multiply.reduce(flat[whole:], None, input.dtype))
    return np.asarray(total).reshape((1,) * input.ndim if keepdim else ())


_COLUMNS = 2048


def count(shape: Sequence[int], dims: tuple[int, ...]) -> int:
    """How many elements go into one result."""
    total = 1
    for dim in dims:
        total *= shape[dim]
    return total


def nonempty_dims(op: str, input: Array, dim: Any, shown: Any = None, call: str = "()") -> tuple[int, ...]:
    """The dimensions to reduce, of which none may be empty: there is no largest of no elements.

    `shown`: how the message names them, when not counted from the front; `call`: what follows the op's name in it.
    """
    if input.size:
        return reduced_dims(dim, input.ndim)
    dims = reduced_dims(dim, input.ndim)
    if dim is None or dim == () or dim == []:
        raise RuntimeError(
            f"{op}{call}: Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for place, each in enumerate(dims):
        if not input.shape[each]:
            name = shown[place] if shown else each
            raise IndexError(f"{op}{call}: Expected reduction dim {name} to have non-zero size.")
    return dims


def one_dim(input: Array, dim: int) -> tuple[Array, int]:
    """The operand with at least one dimension, and `dim` counted from the front."""
    return (input if input.ndim else input.reshape(1)), geometry.wrap_dim(dim, input.ndim)


def check_out_dtype(out: Array | None, dtype: NumpyDtype) -> None:
    """An index or a result of a dtype that was asked for cannot be converted."""
    if out is not None and out.dtype != dtype:
        expected = c_name(np.empty(0, dtype))
        raise RuntimeError(f"Expected out tensor to have dtype {expected}, but got {c_name(out)} instead")


def sum_dtype(input: Array, dtype: Dtype | None, out: Array | None) -> NumpyDtype:
    """The dtype of a sum or product, in which it is computed, too: a given one, that of `out`, int64 for integers."""
    if dtype is not None:
        if out is input and out.dtype != dtype.numpy:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {c_name(input)} and output tensor dtype "
                f"{c_name(np.empty(0, dtype.numpy))} should match"
            )
        check_out_dtype(out, dtype.numpy)
        return dtype.numpy
    if out is not None:
        return out.dtype
    return INT64 if is_integral(input.dtype) else input.dtype


# NumPy adds up one by one, each time waiting for the sum. A product with a triangle of ones has the running sums of 32
# numbers for many rows at once; another row of ones adds what comes before the 32, the first column of the operand.
_WIDTH, _MOST_ROWS = 32, 512
_TRIANGLE = np.vstack([np.ones(_WIDTH), np.triu(np.ones((_WIDTH, _WIDTH)))])


def _running_sum_of_row(values: Array, sums: Array) -> None:
    """Writes the running sums of a vector, added up in float64."""
    whole = values.size - values.size % _WIDTH
    rows, out = values[:whole].reshape(-1, _WIDTH), sums[:whole].reshape(-1, _WIDTH)
    operand, product = np.empty((_MOST_ROWS, 1 + _WIDTH)), np.empty((_MOST_ROWS, _WIDTH))
    before = 0.0
    for start in range(0, len(rows), _MOST_ROWS):
        count = min(_MOST_ROWS, len(rows) - start)
        operand[:count, 1:] = rows[start : start + count]
        ends = operand[:count, 1:].dot(_TRIANGLE[0]).cumsum()
        operand[0, 0] = before
        np.add(ends[:-1], before, operand[1:count, 0])
        before += ends[-1]
        if not np.isfinite(before):  # the zeros of the triangle make NaN of infinity, also where it has not come yet
            np.copyto(sums, values.cumsum(dtype=DOUBLE), casting="same_kind")
            return
        out[start : start + count] = np.matmul(operand[:count], _TRIANGLE, product[:count])
    np.copyto(sums[whole:], before + values[whole:].cumsum(dtype=DOUBLE), casting="same_kind")


def running_sum(values: Array, axis: int, dtype: NumpyDtype) -> Array:
    """np.cumsum; over an outer dimension with long rows it adds row to row, which NumPy does element by element.

    Many numbers of float32 give float32, computed in float64, if that is asked for, long rows by products of matrices.
    """
    if (
        values.dtype == FLOAT != dtype
        and values.shape[axis] >= _LONG
        and axis == values.ndim - 1
        and values.flags.c_contiguous
    ):
        result = np.empty_like(values)
        for row, sums in zip(values.reshape(-1, values.shape[axis]), result.reshape(-1, values.shape[axis])):
            _running_sum_of_row(row, sums)
        return result
    if axis or values.ndim < 2 or not values.size or values[0].size < 64:
        return _sum_from_zero(_accumulate(np.add, values, axis, dtype))
    result = values.astype(dtype, order="C")
    for row in range(1, len(result)):
        np.add(result[row], result[row - 1], out=result[row])
    return _sum_from_zero(result)


def running_product(values: Array, axis: int, dtype: NumpyDtype) -> Array:
    """np.cumprod; many numbers of float32 give float32, computed in float64, if that is asked for."""
    return _accumulate(np.multiply, values, axis, dtype)


_ACCUMULATED = 1 << 14  # elements of which a copy in float64 stays in the cache


def _accumulate(function: np.ufunc, values: Array, axis: int, dtype: NumpyDtype) -> Array:
    """Along rows of float32, some rows at a time are copied to float64: NumPy converts on the way, which takes longer
    than the function, and leaves an array that is twice as large as the result."""
    is_last = axis == values.ndim - 1 and values.flags.c_contiguous
    if values.dtype != FLOAT or dtype != DOUBLE or not is_last or values.size < _LONG:
        return function.accumulate(values, axis, dtype)
    result = np.empty_like(values)
    length = values.shape[axis]
    source, target = values.reshape(-1, length), result.reshape(-1, length)
    count = min(max(_ACCUMULATED // length, 1), len(source))
    wide = np.empty((count, length), dtype)
    for start in range(0, len(source), count):
        part = source[start : start + count]
        rows = wide[: len(part)]
        np.copyto(rows, part)
        function.accumulate(rows, 1, None, rows)
        np.copyto(target[start : start + count], rows, casting="same_kind")
    return result


def _sum_from_zero(sums: Array) -> Array:
    """Running sums as if they began with a zero: NumPy begins with the first element, which may be a negative zero."""
    return np.add(sums, kept_constant(0, sums.dtype), sums) if sums.dtype.kind in "fc" else sums
