"""Batch and layer normalization. Statistics come from centred values: a large mean must not cancel the variance."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from mindtorch._core.strided import laid_out
from mindtorch._core.threads import parallel_for
from mindtorch.backends.cpu.common.computing import FLOATS
from mindtorch.backends.cpu.common.summing import ONES, add_up, add_up_rows, dot_rows, doubtful, recentred
from mindtorch.backends.cpu.compiled.choice import IS_ON, RowLoop, grain_of
from mindtorch.iterator import BLOCK
from mindtorch.iterator.constants import CONSTANTS, kept_constant

Loop = Callable[..., Any]
Triple = tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]

_NORMALIZE, _NORMALIZE_AFFINE = RowLoop("normalize_rows"), RowLoop("normalize_rows_affine")
_NORMALIZE_BACKWARD, _AFFINE_BACKWARD = RowLoop("normalize_rows_backward"), RowLoop("affine_backward")
_ROW_SUM, _DEVIATIONS, _SCALE = RowLoop("row_sum"), RowLoop("deviations"), RowLoop("scale_rows")
_CHANNEL, _FEW_BACKWARD = RowLoop("normalize_channel"), RowLoop("normalize_channel_backward")
_CHANNEL_SUMS, _CHANNEL_BACKWARD = RowLoop("channel_sums"), RowLoop("channel_backward")

_ROW_BYTES = 1 << 18  # rows are normalized in blocks that stay in cache between the passes over them


# -------------------- by channel --------------------


def channel_statistics(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Mean and variance, not corrected for the sample, of each channel of (images, channels, places); x centred.

    None instead of that where compiled kernels do it on the way."""
    count = x.shape[0] * x.shape[2]
    number = kept_constant(count, x.dtype)
    if IS_ON and (found := _compiled_statistics(x, number)) is not None:
        return *found, None
    mean = np.divide(_sum_channels(x), number)
    centred = x - mean[:, None]
    squares = _dot_channels(centred, centred)
    where = doubtful(squares, mean, count)
    if where is not None:
        mean, centred = recentred(x, mean[:, None], where[:, None], (0, 2))
        mean = mean.reshape(-1)
        squares = _dot_channels(centred, centred)
    return mean, np.divide(squares, number), centred


def normalize_few_channels(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    momentum: float,
    eps: float,
) -> Triple | None:
    """Batch normalization of few elements by one compiled kernel, with mean and reciprocal deviation; the running
    statistics are written. None if there is no such kernel, or anything to convert, to lay out or to refuse."""
    given = weight, bias, running_mean, running_var
    if not _is_for_few(input, given) or (loop := _CHANNEL.of(input)) is None:
        return None
    numbers = CONSTANTS[float][input.dtype]
    zero = numbers[0.0]
    operands = [each if each is not None else missing for each, missing in zip(given, (numbers[1.0], zero, zero, zero))]
    rows = _channels_first(input)
    constants = kept_constant(momentum, input.dtype), kept_constant(eps, input.dtype)
    normal, mean, invstd, new_mean, new_var = loop(rows, *operands, *constants)
    if running_mean is not None:
        running_mean[...] = new_mean
    if running_var is not None:
        running_var[...] = new_var
    return _channels_second(normal, input.shape), mean, invstd


def few_channel_gradients(
    grad: np.ndarray, input: np.ndarray, weight: np.ndarray | None, mean: np.ndarray, invstd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The gradients of input, weight and bias, under the same conditions."""
    if grad.shape != input.shape or not grad.flags.c_contiguous or not _is_for_few(input, (weight, mean, invstd)):
        return None
    if (loop := _FEW_BACKWARD.of(input, grad)) is None:
        return None
    factor = CONSTANTS[float][input.dtype][1.0] if weight is None else weight
    of_input, of_weight, of_bias = loop(_channels_first(grad), _channels_first(input), factor, mean, invstd)
    return _channels_second(of_input, input.shape), of_weight, of_bias


def _is_for_few(input: np.ndarray, given: tuple[np.ndarray | None, ...]) -> bool:
    """Whether elements are few, lie in rows, and what is given for channels has one number of their dtype for each."""
    shape, dtype = input.shape, input.dtype
    if dtype not in FLOATS or not 0 < input.size <= FEW or len(shape) < 2 or not input.flags.c_contiguous:
        return False
    return all([each is None or (each.dtype is dtype and each.shape == shape[1:2]) for each in given])


def _channels_first(array: np.ndarray) -> np.ndarray:
    """The elements of each channel in a row."""
    images, channels = array.shape[:2]
    return array.reshape(images, channels, -1).transpose(1, 0, 2).reshape(channels, -1)


def _channels_second(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The elements of such rows in the order of the array that they were taken from."""
    images, channels = shape[:2]
    array = np.empty(shape, rows.dtype)
    array.reshape(images, channels, -1)[...] = rows.reshape(channels, images, -1).transpose(1, 0, 2)
    return array


def _compiled_statistics(x: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    sums, deviations = _ROW_SUM.of(x), _DEVIATIONS.of(x)
    if sums is None or deviations is None or not x.size:
        return None
    about = np.divide(_of_channels(sums, x)[0], number)
    lost, squares = [np.divide(each, number) for each in _of_channels(deviations, x, numbers=(about,))]
    return about + lost, np.maximum(squares - lost * lost, kept_constant(0, x.dtype))


def _of_channels(loop: Loop, *arrays: np.ndarray, numbers: tuple[np.ndarray, ...] = ()) -> list[np.ndarray]:
    """The sums that a compiled kernel gives for rows, for each channel."""
    if arrays[0].shape[2] == 1:
        found = loop(*[each[:, :, 0] for each in arrays], *numbers, axis=0)
        return list(found) if type(found) is tuple else [found]
    found = loop(*arrays, *numbers)
    return [add_up(each, (0,)) for each in (found if type(found) is tuple else (found,))]


def _each_channel(loop: Loop, *arrays: np.ndarray, numbers: tuple[np.ndarray, ...]) -> np.ndarray:
    """What a compiled kernel gives for each element and the numbers of its channel, laid out as the first array."""
    out = np.empty_like(arrays[0])
    if out.shape[2] == 1:
        loop(*[each[:, :, 0] for each in arrays], *numbers, out[:, :, 0], axis=0)
    else:
        loop(*arrays, *numbers, out)
    return out


def _sum_channels(x: np.ndarray) -> np.ndarray:
    return add_up(x[:, :, 0], (0,)) if x.shape[2] == 1 else add_up(x, (0, 2))


def _dot_channels(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    images, channels, places = x.shape
    if places < 2 or not x.size:
        return _sum_channels(x * y)
    return add_up(dot_rows(x.reshape(-1, places), y.reshape(-1, places)).reshape(images, channels), (0,))


def scale_channels(
    x: np.ndarray,
    mean: np.ndarray,
    centred: np.ndarray | None,
    invstd: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
) -> np.ndarray:
    """Normalized values; what is centred already is written over."""
    scale = invstd if weight is None else invstd * weight
    if IS_ON and x.size and (loop := _SCALE.of(x, mean, scale)) is not None:
        return _each_channel(loop, x, numbers=(mean, scale, np.zeros_like(mean) if bias is None else bias))
    if centred is None:
        centred = x - mean[:, None]
    centred *= scale[:, None]
    if bias is not None:
        centred += bias[:, None]
    return centred


def normalize_channels(
    x: np.ndarray, mean: np.ndarray, invstd: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None
) -> np.ndarray:
    """By known statistics: one product and one sum, as torch does it."""
    scale = invstd if weight is None else invstd * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    if IS_ON and x.size and (loop := _SCALE.of(x, scale, shift)) is not None:
        return _each_channel(loop, x, numbers=(np.zeros_like(mean), scale, shift))
    out = x * scale[:, None]
    out += shift[:, None]
    return out


def update_running(running: np.ndarray, value: np.ndarray, momentum: float) -> None:
    """The sum is computed in the higher of the two dtypes."""
    rest = 1 - momentum
    if running.dtype in FLOATS:
        kept = np.multiply(running, kept_constant(rest, running.dtype))
        np.add(np.multiply(value, kept_constant(momentum, value.dtype)), kept, running, casting="same_kind")
    else:
        running[...] = momentum * value + rest * running


def channel_gradients(
    grad: np.ndarray,
    x: np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray,
    invstd: np.ndarray,
    train: bool,
    mask: list[bool],
) -> Triple:
    """Gradients of the input, the weight and the bias."""
    if IS_ON and x.size:
        sums, input_loop = _CHANNEL_SUMS.of(grad, x, mean), _CHANNEL_BACKWARD.of(grad, x, mean, invstd)
        if sums is not None and input_loop is not None:
            return _compiled_channel_gradients(sums, input_loop, grad, x, weight, mean, invstd, train, mask)
    grad_bias = _sum_channels(grad)
    centred = x - mean[:, None]
    projection = _dot_channels(grad, centred)
    scale = invstd if weight is None else invstd * weight
    grad_input = None
    if mask[0]:
        grad_input = _channel_input(grad, centred, grad_bias, projection * invstd * invstd, scale, train)
    return grad_input, projection * invstd if mask[1] else None, grad_bias if mask[2] else None


def _compiled_channel_gradients(
    sums: Loop,
    input_loop: Loop,
    grad: np.ndarray,
    x: np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray,
    invstd: np.ndarray,
    train: bool,
    mask: list[bool],
) -> Triple:
    total, along = _of_channels(sums, grad, x, numbers=(mean,))
    scale = invstd if weight is None else invstd * weight
    grad_input = None
    if mask[0]:
        count = kept_constant(grad.shape[0] * grad.shape[2], x.dtype)
        numbers = mean, np.divide(total, count), along * invstd * invstd / count, scale
        grad_input = _each_channel(input_loop, grad, x, numbers=numbers) if train else grad * scale[:, None]
    return grad_input, along * invstd if mask[1] else None, total if mask[2] else None


def _channel_input(
    grad: np.ndarray, centred: np.ndarray, total: np.ndarray, slope: np.ndarray, scale: np.ndarray, train: bool
) -> np.ndarray:
    if not train:
        return grad * scale[:, None]
    count = grad.shape[0] * grad.shape[2]
    centred *= (-slope * scale / count)[:, None]
    centred += grad * scale[:, None]
    centred -= (total * scale / count)[:, None]
    return centred


# -------------------- by row --------------------


def normalize_rows(
    x: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(rows, columns) normalized over columns, with each row's mean and reciprocal deviation."""
    if IS_ON and (found := _compiled_rows(x, weight, bias, eps)) is not None:
        return found
    if 0 < x.size <= FEW:
        return _normalize_few(x, weight, bias, eps)
    out = np.empty(x.shape, x.dtype)
    # Each on memory of its own: the mean and the factor are results.
    mean, squares, rstd = [np.empty((x.shape[0], 1), x.dtype) for _ in range(3)]
    count = kept_constant(max(1, x.shape[1]), x.dtype)
    scratch = _scratch(x, 0 if weight is None else 1)
    for rows in _row_blocks(x):
        centred, factor = out[rows], rstd[rows]
        np.divide(add_up_rows(x[rows]), count, out=mean[rows, 0])
        np.subtract(x[rows], mean[rows], out=centred)
        squares[rows, 0] = dot_rows(centred, centred)
        np.divide(squares[rows], count, out=factor)
        factor += eps
        np.reciprocal(np.sqrt(factor, out=factor), out=factor)
        centred *= factor if weight is None else _outer(factor, weight, scratch[0])
        if bias is not None:
            centred += bias
    where = doubtful(squares, mean, x.shape[1])
    if where is not None:
        some = np.flatnonzero(where)
        out[some], mean[some], rstd[some] = _normalize_few(x[some], weight, bias, eps)
    return out, mean, rstd


def _compiled_rows(
    x: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """By a compiled kernel, if there is one."""
    kernel = _NORMALIZE if weight is None and bias is None else _NORMALIZE_AFFINE
    if kernel.get() is None or not x.size or not x.flags.c_contiguous:
        return None
    parameters: tuple[np.ndarray, ...] = ()
    if kernel is _NORMALIZE_AFFINE:
        parameters = _ones(x[0]) if weight is None else weight, np.zeros_like(x[0]) if bias is None else bias
    if (loop := kernel.of(x, *parameters)) is None:
        return None
    epsilon = kept_constant(eps, x.dtype)
    results = np.empty(x.shape, x.dtype), np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)
    _in_parts(x, 0, lambda some: loop(x[some], *parameters, epsilon, *[each[some] for each in results]))
    out, mean, rstd = results
    return out, mean.reshape(-1, 1), rstd.reshape(-1, 1)


def _in_parts(x: np.ndarray, dim: int, function: Callable[[slice], Any]) -> None:
    """Calls a function for all places of a dimension, or for parts in threads if the elements are many."""
    if x.size <= BLOCK:
        function(slice(None))
    else:
        parallel_for(0, x.shape[dim], grain_of(x, dim), lambda begin, end: function(slice(begin, end)))


def _ones(like: np.ndarray) -> np.ndarray:
    known = ONES[like.dtype]
    return known[like.size] if like.size < len(known) else np.ones(like.size, like.dtype)


FEW = 1 << 11  # elements of arrays so small that calls of NumPy cost more than what they do


def _normalize_few(
    x: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    length = x.shape[1]
    count = kept_constant(length, x.dtype)
    x = x if x.flags.c_contiguous else x.copy()
    mean = add_up_rows(x).reshape(-1, 1)
    mean /= count
    out = np.subtract(x, mean)
    rstd = dot_rows(out, out).reshape(-1, 1)
    where = doubtful(rstd, mean, length)
    if where is not None:
        mean, out = recentred(x, mean, where, (1,), out)
        rstd = dot_rows(out, out).reshape(-1, 1)
    rstd /= count
    rstd += kept_constant(eps, x.dtype)
    np.reciprocal(np.sqrt(rstd, rstd), rstd)
    out = out * rstd  # what is broadcast takes longer in place, where NumPy looks for memory that is shared
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return laid_out(out, None), mean, rstd


def row_gradients(
    grad: np.ndarray, x: np.ndarray, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, mask: list[bool]
) -> Triple:
    """Gradients of the input, the weight and the bias of `normalize_rows`."""
    if IS_ON and (found := _compiled_gradients(grad, x, mean, rstd, weight, mask)) is not None:
        return found
    grad_input = np.empty(x.shape, x.dtype) if mask[0] else None
    grad_weight, grad_bias = np.zeros(x.shape[1], x.dtype), np.zeros(x.shape[1], x.dtype)
    scale = np.ones(x.shape[1], x.dtype) if weight is None else weight
    scratch = _scratch(x, 2)
    for rows in _row_blocks(x):
        centred = np.subtract(x[rows], mean[rows], out=scratch[0, : len(mean[rows])])
        product = np.multiply(grad[rows], centred, out=scratch[1, : len(centred)])
        if mask[1]:
            grad_weight += rstd[rows, 0] @ product
        if mask[2]:
            grad_bias += add_up(grad[rows], (0,))
        if grad_input is not None:
            slope = product @ scale
            scales = _outer(rstd[rows], scale, product)
            _row_input(grad[rows], centred, slope, rstd[rows], scale, scales, grad_input[rows])
    return grad_input, grad_weight if mask[1] else None, grad_bias if mask[2] else None


def few_row_gradients(
    grad: np.ndarray, x: np.ndarray, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, mask: list[bool]
) -> Triple:
    """The same of few elements, without blocks."""
    if IS_ON and (found := _compiled_gradients(grad, x, mean, rstd, weight, mask)) is not None:
        return found
    rows, columns = x.shape
    rstd = rstd.reshape(rows, 1)
    centred = x - mean.reshape(rows, 1)
    product = grad * centred
    grad_input = None
    if mask[0]:
        scale = ONES[x.dtype][columns] if weight is None and columns < len(ONES[x.dtype]) else weight
        if scale is None:
            scale = np.ones(columns, x.dtype)
        share = rstd / kept_constant(columns, x.dtype)
        slope = product.dot(scale).reshape(rows, 1) * share
        slope *= rstd
        slope *= rstd
        centred = centred * slope
        centred = centred + grad.dot(scale).reshape(rows, 1) * share
        grad_input = laid_out(np.subtract(grad * (rstd if weight is None else rstd * weight), centred), None)
    grad_weight = rstd.reshape(-1).dot(product) if mask[1] else None
    return grad_input, grad_weight, add_up(grad, (0,)) if mask[2] else None


def _compiled_gradients(
    grad: np.ndarray, x: np.ndarray, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, mask: list[bool]
) -> Triple | None:
    """The same by compiled kernels, if there are any."""
    if _NORMALIZE_BACKWARD.get() is None or not x.size:
        return None
    weight = _ones(x[0]) if weight is None else weight
    of_rows, of_columns = _NORMALIZE_BACKWARD.of(grad, x, weight, mean, rstd), _AFFINE_BACKWARD.get()
    if of_rows is None or of_columns is None:
        return None
    mean, rstd = mean.reshape(-1), rstd.reshape(-1)
    grad_input = grad_weight = grad_bias = None
    if mask[0]:
        grad_input = written = np.empty(x.shape, x.dtype)
        _in_parts(x, 0, lambda some: of_rows(grad[some], x[some], weight, mean[some], rstd[some], written[some]))
    if mask[1] or mask[2]:
        grad_weight, grad_bias = both = np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)

        def of_part(some: slice) -> None:
            of_columns(grad[:, some], x[:, some], mean, rstd, *[each[some] for each in both], axis=0)

        _in_parts(x, 1, of_part)
    return grad_input, grad_weight if mask[1] else None, grad_bias if mask[2] else None


def _row_input(
    grad: np.ndarray,
    centred: np.ndarray,
    slope: np.ndarray,
    rstd: np.ndarray,
    scale: np.ndarray,
    scales: np.ndarray,
    out: np.ndarray,
) -> None:
    """The gradient of a block of rows: what is left of grad without its mean and its part along the row."""
    share = rstd / grad.shape[1]
    np.multiply(grad, scales, out=out)
    centred *= slope[:, None] * share * rstd * rstd
    centred += (grad @ scale)[:, None] * share
    out -= centred


def _outer(column: np.ndarray, row: np.ndarray, scratch: np.ndarray) -> np.ndarray:
    """The outer product, padded with zeros to an inner dimension of two: BLAS is ten times faster than for one."""
    columns, rows = np.zeros((len(column), 2), row.dtype), np.zeros((2, len(row)), row.dtype)
    columns[:, :1], rows[0] = column, row
    return np.matmul(columns, rows, out=scratch[: len(column)])


def _block_length(x: np.ndarray) -> int:
    return max(1, _ROW_BYTES // max(1, x.shape[1] * x.itemsize))


def _row_blocks(x: np.ndarray) -> list[slice]:
    step = _block_length(x)
    return [slice(start, start + step) for start in range(0, x.shape[0], step)]


def _scratch(x: np.ndarray, count: int) -> np.ndarray:
    """Room for some blocks of rows, used again for every block."""
    return np.empty((count, min(len(x), _block_length(x)), x.shape[1]), x.dtype)


def rows_of(array: np.ndarray, normalized: int) -> np.ndarray:
    """The array as (rows, columns), its last `normalized` dimensions being the columns."""
    columns = prod(array.shape[array.ndim - normalized :])
    return array.reshape(prod(array.shape[: array.ndim - normalized]), columns)
