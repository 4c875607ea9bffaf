"""Kernels of softmax and log-softmax and their backwards, in blocks that stay in the cache."""

from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any

import numpy as np

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import BFLOAT16, FLOAT, HALF
from mindtorch._support.float_errors import quiet, run_quietly
from mindtorch.backends.cpu.common.casting import deliver
from mindtorch.backends.cpu.common.checks import expect_dtype
from mindtorch.backends.cpu.common.computing import FLOATS
from mindtorch.backends.cpu.common.reducing import as_computed, check_out_dtype, one_dim, store
from mindtorch.backends.cpu.common.summing import add_up
from mindtorch.backends.cpu.common.unsupported_dtypes import ONLY_FLOATING, not_implemented
from mindtorch.backends.cpu.compiled.choice import compiled_rows
from mindtorch.iterator import BLOCK, check_distinct, is_at_hand

Array = np.ndarray
Step = Callable[..., None]


def softmax(input: Array, dim: int, half_to_float: bool, out: Array | None = None) -> Array:
    if not half_to_float and _is_small(input, dim) and (out is None or is_at_hand(out, input.shape, FLOAT, ())):
        rows = input if input.ndim == 2 else input.reshape(-1, input.shape[-1])
        try:
            result = run_quietly(_small_softmax, rows)
        except RuntimeError:
            result = quiet(_small_softmax, rows)
        if result is not None:
            result = result if input.ndim == 2 else result.reshape(input.shape)
            return result if out is None else deliver(result, out)
    return _run("softmax", _softmax_step, (input,), dim, half_to_float, out)


_SHORT_ROW, _MODERATE = 32, 400.0
_SQUARES = [np.ones((length, length), FLOAT) for length in range(_SHORT_ROW + 1)]


def _is_small(input: Array, dim: int) -> bool:
    """Whether the rows are so few and short that overhead is all that counts."""
    if input.dtype is not FLOAT or not 0 < input.size <= 1024 or not input.flags.c_contiguous:
        return False
    shape = input.shape
    return (dim == -1 or dim == len(shape) - 1) and shape != () and shape[-1] <= _SHORT_ROW


def _small_softmax(x: Array) -> Array | None:
    """Softmax of rows without a shift by their largest values, which moderate numbers don't need; else None.

    A product with a square of ones adds up each row and spreads the sum over the whole of it.
    """
    flat = x.ravel()
    if not flat.dot(flat) < _MODERATE:  # NaN and infinity aren't either
        return None
    result = np.exp(x)
    return np.divide(result, result.dot(_SQUARES[x.shape[1]]), result)


def log_softmax(input: Array, dim: int, half_to_float: bool, out: Array | None = None) -> Array:
    if not half_to_float and _is_small(input, dim) and (out is None or is_at_hand(out, input.shape, FLOAT, ())):
        rows = input if input.ndim == 2 else input.reshape(-1, input.shape[-1])
        result = quiet(_small_log_softmax, rows)
        result = result if input.ndim == 2 else result.reshape(input.shape)
        return result if out is None else deliver(result, out)
    step = partial(_log_softmax_step, rounded_to=input.dtype) if _rounds_logarithm(input, dim) else _log_softmax_step
    return _run("log_softmax", step, (input,), dim, half_to_float, out)


def _small_log_softmax(x: Array) -> Array:
    result = x - np.maximum.reduce(x, 1, None, None, True)
    total = np.exp(result).dot(_SQUARES[x.shape[1]])
    return np.subtract(result, np.log(total, total), result)


def _rounds_logarithm(input: Array, dim: int) -> bool:
    """Over the last dimension of float16 and bfloat16, torch rounds the sum and its logarithm before it subtracts."""
    return input.dtype in (HALF, BFLOAT16) and dim in (-1, max(input.ndim - 1, 0))


def softmax_backward_data(
    grad_output: Array, output: Array, dim: int, input_dtype: Dtype, out: Array | None = None
) -> Array:
    _check_gradient("softmax_backward", grad_output, output)
    return _run("softmax_backward", _softmax_backward_step, (grad_output, output), dim, False, out)


def log_softmax_backward_data(
    grad_output: Array, output: Array, dim: int, input_dtype: Dtype, out: Array | None = None
) -> Array:
    _check_gradient("log_softmax_backward", grad_output, output)
    return _run("log_softmax_backward", _log_softmax_backward_step, (grad_output, output), dim, False, out)


def _check_gradient(name: str, grad: Array, output: Array) -> None:
    if grad.shape != output.shape:
        raise RuntimeError(
            "Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; but "
            f"{list(grad.shape)} does not equal {list(output.shape)} (while checking arguments for {name})"
        )
    expect_dtype(output, grad)


def _run(name: str, step: Step, inputs: tuple[Array, ...], dim: int, half_to_float: bool, out: Array | None) -> Array:
    if half_to_float:
        raise RuntimeError(f"{name} with half to float conversion is not supported on CPU")
    first, axis = one_dim(inputs[0], dim)
    dtype = first.dtype
    check_out_dtype(out, dtype)
    if out is not None:
        check_distinct(out)
    if out is None and dtype in FLOATS and 0 < first.size <= BLOCK and all(each.flags.c_contiguous for each in inputs):
        result = np.empty(first.shape, dtype)
        quiet(step, result, *[each.reshape(first.shape) for each in inputs], axis=axis)
        return result.reshape(inputs[0].shape)
    if dtype in ONLY_FLOATING and first.size:
        place = "lastdim_" if axis == first.ndim - 1 else ""
        raise not_implemented(f"{name}_{place}kernel_impl", dtype)[dtype](dtype)
    if not first.size:
        return store(np.empty(inputs[0].shape, dtype), dtype, out)
    computed = [np.ascontiguousarray(as_computed(each, dtype)) for each in inputs]
    result = np.empty(first.shape, computed[0].dtype)
    quiet(_in_blocks, step, [result, *computed], axis)
    return store(result.reshape(inputs[0].shape), dtype, out)


def _in_blocks(step: Step, arrays: list[Array], axis: int) -> None:
    """Runs a step over (outer, axis, inner) blocks with about BLOCK elements."""
    shape = arrays[0].shape
    length = shape[axis]
    inner = prod(shape[axis + 1 :])
    if inner == 1:
        _in_blocks_of_rows(step, [array.reshape(-1, length) for array in arrays])
        return
    views = [array.reshape(-1, length, inner) for array in arrays]
    for place in _blocks(len(views[0]), length, inner):
        step(*[view[place] for view in views], axis=1)


_SHORT = 64


def _in_blocks_of_rows(step: Step, views: list[Array]) -> None:
    """Short rows are turned into columns, block by block, as NumPy is slow in reducing many short rows."""
    count, length = views[0].shape
    rows = max(2 * BLOCK // length, 1)
    for start in range(0, count, rows):
        out, *inputs = [view[start : start + rows] for view in views]
        if length >= _SHORT:
            step(out, *inputs, axis=1)
            continue
        columns = [np.ascontiguousarray(each.T) for each in inputs]
        result = np.empty_like(columns[0])
        step(result, *columns, axis=0)
        np.copyto(out, result.T)


def _blocks(outer: int, length: int, inner: int) -> Iterator[Any]:
    rows = max(BLOCK // (length * inner), 1)
    columns = inner if rows > 1 else max(BLOCK // length, 64)
    for row in range(0, outer, rows):
        if columns >= inner:
            yield slice(row, row + rows)
            continue
        for column in range(0, inner, columns):
            yield (slice(row, row + rows), slice(None), slice(column, column + columns))


@compiled_rows("softmax")
def _softmax_step(out: Array, x: Array, axis: int) -> None:
    if _is_moderate(x, axis):
        np.exp(x, out=out)
    else:
        np.subtract(x, np.maximum.reduce(x, axis, None, None, True), out=out)
        np.exp(out, out=out)
    out /= add_up(out, (axis,), True)


def _has_long_rows(x: Array, axis: int) -> bool:
    return x.ndim == 2 and axis == 1 and x.shape[1] >= _SHORT and x.dtype in FLOATS


def _is_moderate(x: Array, axis: int) -> bool:
    """Whether a softmax needs no shift by the largest numbers, which takes as long as the exponential: no element is
    large in a row whose squares add up to a moderate number. NaN and infinity are not moderate."""
    if not _has_long_rows(x, axis):
        return False
    return bool((np.einsum("ij,ij->i", x, x) < _MODERATE_SQUARES).all())


_MODERATE_SQUARES = 80.0**2  # exp(80) is far from the largest float32, and so is a sum of thousands of them


@compiled_rows("log_softmax")
def _log_softmax_step(out: Array, x: Array, axis: int, rounded_to: Any = None) -> None:
    largest = np.maximum.reduce(x, axis, None, None, True)
    np.subtract(x, largest, out=out)
    np.exp(out, out=out)
    total = add_up(out, (axis,), True)
    np.subtract(x, largest, out=out)  # again: that is quicker than to have another array for the exponential
    if rounded_to is None:
        out -= np.log(total)
        return
    total = total.astype(rounded_to).astype(x.dtype)
    out -= np.log(total).astype(rounded_to).astype(x.dtype)


@compiled_rows("softmax_backward")
def _softmax_backward_step(out: Array, grad: Array, y: Array, axis: int) -> None:
    np.multiply(grad, y, out=out)
    total = add_up(out, (axis,), True)
    np.subtract(grad, total, out=out)
    out *= y


@compiled_rows("log_softmax_backward")
def _log_softmax_backward_step(out: Array, grad: Array, y: Array, axis: int) -> None:
    np.exp(y, out=out)
    out *= add_up(grad, (axis,), True)
    np.subtract(grad, out, out=out)
