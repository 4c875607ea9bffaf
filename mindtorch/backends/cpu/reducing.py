"""What the reduction kernels share: preparing the operand, checking and storing the result."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch import geometry, iterator
from mindtorch.backends.cpu.checks import c_name
from mindtorch.backends.cpu.computing import widened
from mindtorch.backends.cpu.quiet import quiet
from mindtorch.dtype import FROM_NUMPY
from mindtorch.dtype import dtype as Dtype
from mindtorch.iterator import reduced_dims
from mindtorch.promotion import DOUBLE, FLOAT, INT64, is_integral

Array = np.ndarray
NumpyDtype = np.dtype[Any]

# Longer reductions over an outer dimension run in two steps: NumPy adds row by row, and the rounding errors would grow.
_ROWS = 256


def scalar_name(dtype: NumpyDtype) -> str:
    return FROM_NUMPY[dtype].storage_name


def as_computed(input: Array, dtype: NumpyDtype) -> Array:
    """The operand converted to `dtype`, and from there to the dtype in which that is computed."""
    if input.dtype != dtype:
        input = quiet(_real_if(input, dtype).astype, dtype)
    working = widened(dtype)
    return input if working == dtype else input.astype(working)


def _real_if(array: Array, dtype: NumpyDtype) -> Array:
    """The real part, when that is all that `dtype` can hold."""
    return array.real if array.dtype.kind == "c" and dtype.kind != "c" else array


def store(result: Array, dtype: NumpyDtype, out: Array | None) -> Array:
    """The result in `dtype` as a row-major array or in `out`."""
    result = np.asarray(result)
    if out is not None:
        if iterator.needs_resize(out, result.shape):
            out = np.empty(result.shape, out.dtype)
        quiet(np.copyto, out, _real_if(result, out.dtype), casting="unsafe")
        return out
    if result.dtype != dtype:
        result = quiet(result.astype, dtype, order="C")
    if not result.flags.c_contiguous:
        return result.copy(order="C")
    if result.ndim > 1 and 1 in result.shape:  # NumPy leaves any strides in dimensions of size 1
        return result.reshape(-1).reshape(result.shape)
    return result


def add_up(input: Array, dims: tuple[int, ...], keepdim: bool, dtype: NumpyDtype | None = None) -> Array:
    """A sum with errors that grow slowly in all directions."""
    if _is_long_outer(input, dims):
        rows = len(input) // _ROWS * _ROWS
        blocks = np.add.reduce(input[:rows].reshape(-1, _ROWS, *input.shape[1:]), 1, dtype)
        partial = np.add.reduce(blocks, 0, dtype) + np.add.reduce(input[rows:], 0, dtype)
        return partial[None] if keepdim else partial
    if len(dims) == input.ndim and dtype in (None, input.dtype) and is_long(input):
        total = add_up_all(input)
        return total.reshape((1,) * input.ndim) if keepdim else total
    return np.add.reduce(input, dims, dtype, None, keepdim)


# A product with ones makes BLAS add up rows, in a third of the time that NumPy needs. Longer rows would lose digits.
_ONES = {dtype: np.ones(1024, dtype) for dtype in (FLOAT, DOUBLE)}
_LONG = 1 << 14


def is_long(input: Array) -> bool:
    """Whether `add_up_all` takes the array."""
    return input.size >= _LONG and input.dtype in _ONES and input.flags.c_contiguous


def add_up_all(input: Array) -> Array:
    """The sum of a long array: that of each row of a matrix first, then their sum in pairs. Errors are like torch's."""
    ones, total = _ONES[input.dtype], np.empty((), input.dtype)
    whole = input.size - input.size % ones.size
    flat = input.reshape(-1)
    sums = (flat if whole == flat.size else flat[:whole]).reshape(-1, ones.size).dot(ones)
    if sums.size == ones.size:
        ones.dot(sums, total)
    else:
        np.add.reduce(add_up_all(sums) if sums.size >= _LONG else sums, None, None, total)
    if whole < flat.size:
        np.add(total, np.add.reduce(flat[whole:]), total)
    return total


def _is_long_outer(input: Array, dims: tuple[int, ...]) -> bool:
    is_outer = dims == (0,) and input.ndim > 1 and input.dtype.kind in "fc"
    return is_outer and len(input) > 4 * _ROWS and input.flags.c_contiguous


def count(shape: Sequence[int], dims: tuple[int, ...]) -> int:
    """How many elements go into one result."""
    total = 1
    for dim in dims:
        total *= shape[dim]
    return total


def nonempty_dims(op: str, input: Array, dim: Any, shown: Any = None) -> tuple[int, ...]:
    """The dimensions to reduce, of which none may be empty: there is no largest of no elements.

    `shown`: how the message names them, when not counted from the front.
    """
    dims = reduced_dims(dim, input.ndim)
    if input.size:
        return dims
    if dim is None or dim == () or dim == []:
        raise RuntimeError(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for place, each in enumerate(dims):
        if not input.shape[each]:
            name = shown[place] if shown else each
            raise IndexError(f"{op}(): Expected reduction dim {name} to have non-zero size.")
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


def running_sum(values: Array, axis: int, dtype: NumpyDtype) -> Array:
    """np.cumsum; over an outer dimension with long rows it adds row to row, which NumPy does element by element."""
    if axis or values.ndim < 2 or not values.size or values[0].size < 64:
        return np.cumsum(values, axis, dtype)
    result = values.astype(dtype, order="C")
    for row in range(1, len(result)):
        np.add(result[row], result[row - 1], out=result[row])
    return result
