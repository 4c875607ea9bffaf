"""Kernels of the nn family: convolution, normalization, embedding, dropout and padding.

A kernel checks its arguments with torch's texts, widens half precision and hands over to the arithmetic next door.
"""

from __future__ import annotations

from math import prod

import numpy as np

from mindtorch._core import aligned, geometry
from mindtorch._core.strided import empty_like, laid_out
from mindtorch._support.float_errors import quiet
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import is_within
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.numbers import filling
from mindtorch.backends.cpu.common.precision import Arrays, deliver, deliver_all, widen
from mindtorch.backends.cpu.common.summing import add_up
from mindtorch.backends.cpu.nn import normalization
from mindtorch.backends.cpu.nn.convolution import Geometry, add_bias, correlate, correlate_weight, scatter
from mindtorch.backends.cpu.nn.convolution_checks import check_dims, check_gradient, check_input, geometry_of
from mindtorch.backends.cpu.random import random

scipy_sparse = lazy("scipy.sparse")

# -------------------- convolution --------------------


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if input.ndim < 3:
        check_dims(input, weight)
    geometry = geometry_of(input.ndim - 2, stride, padding, dilation, output_padding, groups)
    check_input(input, weight, bias, geometry, transposed)
    size_of = geometry.transposed_size if transposed else geometry.output_size
    size = size_of(input.shape[2:], weight.shape[2:])
    move = scatter if transposed else correlate
    out = quiet(move, widen(input), widen(weight), size, geometry)
    strides = image_layout.of_convolution(input, weight, out.shape)
    return laid_out(deliver(add_bias(out, widen(bias)), input), strides)


def convolution_backward(
    grad_output,
    input,
    weight,
    bias_sizes,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    output_mask,
):
    if weight.ndim < 3:
        check_dims(input, weight)
    geometry = geometry_of(weight.ndim - 2, stride, padding, dilation, output_padding, groups)
    check_gradient(grad_output, input, weight, geometry, transposed)
    _check_takes_gradients(input, dilation, transposed, output_mask)
    grads = quiet(
        _convolution_grads, widen(grad_output), widen(input), widen(weight), geometry, transposed, output_mask
    )
    return tuple([_as_convolved(grad, input, weight) for grad in deliver_all(grads, input)])


def _check_takes_gradients(input: np.ndarray, dilation: list[int], transposed: bool, mask: list[bool]) -> None:
    """torch has kernels for the gradients of floating-point numbers only, and for int64 where there is a dilation."""
    if checks.is_float(input) or not (mask[0] or mask[1]):
        return
    dims = 3 if input.ndim == 5 else 2
    if transposed:
        part = "backward_out" if mask[0] else "acc_grad_parameters"
        raise checks.not_implemented(f"slow_conv_transpose{dims}d_{part}_cpu", input)
    if max(dilation) > 1 and input.dtype != np.int64:
        raise checks.not_implemented("slow_conv_dilated<>", input)
    if max(dilation) == 1:
        raise checks.not_implemented(f"slow_conv{dims}d_cpu_grad_{'input' if mask[0] else 'weight'}", input)


def _as_convolved(grad: np.ndarray | None, input: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """A gradient of a convolution in the memory format of its operands."""
    if grad is None or grad.ndim < 3:
        return grad
    return laid_out(grad, image_layout.of_convolution(input, weight, grad.shape))


def _convolution_grads(
    grad: np.ndarray, input: np.ndarray, weight: np.ndarray, geometry: Geometry, transposed: bool, mask: list[bool]
) -> Arrays:
    grad_input = grad_weight = grad_bias = None
    if mask[0]:
        move = correlate if transposed else scatter
        grad_input = move(grad, weight, input.shape[2:], geometry)
    if mask[1]:
        wide, narrow = (grad, input) if transposed else (input, grad)
        grad_weight = correlate_weight(wide, narrow, weight.shape[2:], geometry)
    if mask[2]:
        grad_bias = add_up(grad, (0, *range(2, grad.ndim)))
    return grad_input, grad_weight, grad_bias


# -------------------- normalization --------------------


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, out=None):
    checks.expect_float(input, "batch_norm")
    checks.expect_parameters(input, weight, bias, running_mean, running_var)
    aligned.check_walk(input)
    if weight is not None and weight.ndim != 1:
        weight = weight.reshape(-1)
    if bias is not None and bias.ndim != 1:
        bias = bias.reshape(-1)
    x = _by_channel(widen(input))
    result = quiet(_batch_norm, x, widen(weight), widen(bias), running_mean, running_var, training, momentum, eps)
    normal, *statistics = result
    like = next((array for array in (weight, running_mean) if array is not None), input)
    outs = out or (None, None, None)
    normal = deliver(normal.reshape(input.shape), input, outs[0])
    if out is None:
        normal = laid_out(normal, image_layout.of_normalization(input))
    return normal, *deliver_all(statistics, like, outs[1:])


def _batch_norm(
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not training:
        mean, invstd = widen(running_mean), 1 / np.sqrt(widen(running_var) + eps)
        nothings = np.empty(0, x.dtype), np.empty(0, x.dtype)
        return normalization.normalize_channels(x, mean, invstd, weight, bias), *nothings
    mean, variance, centred = normalization.channel_statistics(x)
    count = x.shape[0] * x.shape[2]
    normalization.update_running(running_mean, mean, momentum)
    normalization.update_running(running_var, variance * np.float64(count) / (count - 1), momentum)
    invstd = 1 / np.sqrt(variance + eps)
    return normalization.scale_channels(centred, invstd, weight, bias), mean, invstd


def native_batch_norm_backward(
    grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
):
    checks.expect_float(input, "batch_norm_backward_cpu")
    checks.expect_parameters(input, weight, running_mean, running_var, save_mean, save_invstd)
    checks.expect_dtype(grad_out, input)
    checks.expect_sizes(grad_out, input.shape, "grad_out")
    if weight is not None and weight.ndim != 1:
        weight = weight.reshape(-1)
    mean, invstd = save_mean, save_invstd
    if not train:
        mean, invstd = widen(running_mean), quiet(_reciprocal_deviation, widen(running_var), eps)
    aligned.check_walk(input)
    grad, x = _by_channel(widen(grad_out)), _by_channel(widen(input))
    grads = quiet(normalization.channel_gradients, grad, x, widen(weight), mean, invstd, train, output_mask)
    grad_input, *of_parameters = grads
    if grad_input is not None:
        grad_input = deliver(grad_input.reshape(input.shape), input)
        grad_input = laid_out(grad_input, image_layout.of_normalization(input))
    return grad_input, *deliver_all(tuple(of_parameters), input if weight is None else weight)


def _reciprocal_deviation(variance: np.ndarray, eps: float) -> np.ndarray:
    return 1 / np.sqrt(variance + eps)


def _by_channel(array: np.ndarray) -> np.ndarray:
    images, channels = array.shape[:2]
    return array.reshape(images, channels, prod(array.shape[2:]))


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    _check_layer_norm(input, tuple(normalized_shape), weight, bias)
    dims = len(normalized_shape)
    x = normalization.rows_of(widen(input), dims)
    out, mean, rstd = quiet(normalization.normalize_rows, x, _flat(widen(weight)), _flat(widen(bias)), eps)
    statistics = (*input.shape[: input.ndim - dims], *(1,) * dims)
    like = input if weight is None else weight
    return (
        deliver(out.reshape(input.shape), input),
        deliver(mean.reshape(statistics), like),
        deliver(rstd.reshape(statistics), like),
    )


def native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):
    _check_layer_norm_sizes(input, tuple(normalized_shape), weight, bias)
    checks.expect_float(input, "LayerNormBackwardKernelImpl")
    checks.expect_dtype(grad_out, input)
    checks.expect_dtypes(input if weight is None else weight, mean, rstd)
    _check_layer_norm_dtypes(input, weight, bias)
    dims = len(normalized_shape)
    checks.expect_sizes(grad_out, input.shape, "grad_out")
    grad, x = (normalization.rows_of(widen(array), dims) for array in (grad_out, input))
    for name, statistic in (("mean", mean), ("rstd", rstd)):
        if statistic.size != len(x):
            raise RuntimeError(f"expected {len(x)} elements in `{name}` but got {statistic.size}")
    mean, rstd = widen(mean).reshape(-1, 1), widen(rstd).reshape(-1, 1)
    grads = quiet(normalization.row_gradients, grad, x, mean, rstd, _flat(widen(weight)), output_mask)
    shapes = (input.shape, tuple(normalized_shape), tuple(normalized_shape))
    grads = tuple(array if array is None else array.reshape(shape) for array, shape in zip(grads, shapes))
    return deliver(grads[0], input) if output_mask[0] else None, *deliver_all(
        grads[1:], input if weight is None else weight
    )


def _flat(array: np.ndarray | None) -> np.ndarray | None:
    return None if array is None else array.reshape(-1)


def _check_layer_norm(
    input: np.ndarray, shape: tuple[int, ...], weight: np.ndarray | None, bias: np.ndarray | None
) -> None:
    _check_layer_norm_sizes(input, shape, weight, bias)
    if not checks.is_float(input) and np.float32 in [each.dtype for each in (weight, bias) if each is not None]:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    checks.expect_float(input, "LayerNormKernelImpl")
    _check_layer_norm_dtypes(input, weight, bias)


def _check_layer_norm_sizes(
    input: np.ndarray, shape: tuple[int, ...], weight: np.ndarray | None, bias: np.ndarray | None
) -> None:
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(parameter.shape)} and normalized_shape = {list(shape)}"
            )
    if input.shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {checks.times(shape, ', ')}], "
            f"but got input of size{list(input.shape)}"
        )


def _check_layer_norm_dtypes(input: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None) -> None:
    parameter = bias if weight is None else weight
    if parameter is not None and parameter.dtype != input.dtype:
        if input.dtype.itemsize != 2 or parameter.dtype != np.float32:
            expected = "Float" if input.dtype.itemsize == 2 else checks.scalar_name(input)
            raise RuntimeError(f"mixed dtype (CPU): expect parameter to have scalar type of {expected}")
    if parameter is not None:
        checks.expect_dtype(bias, parameter)


# -------------------- embedding --------------------


def embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse):
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    checks.expect_indices(indices, "indices", "embedding")
    aligned.check_fits((*indices.shape, weight.shape[1]), weight.dtype)
    if not is_within(indices, 0, weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight.take(indices, axis=0, mode="clip")


def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    checks.expect_indices(indices, "indices", "embedding_backward")
    rows = indices.reshape(-1)
    width = grad_output.shape[-1] if grad_output.ndim else 1
    if grad_output.size != rows.size * width:
        raise RuntimeError(f"shape '{[rows.size, width]}' is invalid for input of size {grad_output.size}")
    if num_weights < 0:
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    grad = widen(grad_output).reshape(rows.size, width)
    share = np.ones(rows.size, grad.dtype)
    if scale_grad_by_freq:
        share /= np.bincount(rows, minlength=num_weights)[rows]
    if padding_idx >= 0:
        share[rows == padding_idx] = 0
        grad = np.where((rows == padding_idx)[:, None], 0, grad)  # NaN times 0 would not be 0
    if rows.size and rows.view(f"u{rows.itemsize}").max() >= num_weights:  # negative ones are the largest there
        there = (rows >= 0) & (rows < num_weights)  # the product would write anywhere: torch leaves the others out
        grad, rows, share = grad[there], rows[there], share[there]
    return deliver(_sum_rows(grad, rows, share, num_weights), grad_output)


def _sum_rows(grad: np.ndarray, rows: np.ndarray, share: np.ndarray, count: int) -> np.ndarray:
    """Each row of grad, times its share, added to its row of the result: a product with a sparse matrix."""
    places = scipy_sparse.csc_array((share, rows, np.arange(rows.size + 1)), shape=(count, rows.size))
    return places @ grad


# -------------------- dropout --------------------


def native_dropout(input, p, train):
    mask = empty_like(input, np.dtype(bool))
    if input.size == 0:
        return input.copy(), mask
    if train is False:
        mask.fill(True)
        return _copied(input), mask
    random.bernoulli_float(mask, 1 - p)
    if not checks.is_float(input):
        raise RuntimeError(f"result type Float can't be cast to the desired output type {checks.scalar_name(input)}")
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return _copied(deliver(quiet(np.multiply, widen(input) * mask, np.float32(scale)), input)), mask


def _copied(input: np.ndarray) -> np.ndarray:
    """A copy with the strides that a new tensor like this one has."""
    result = empty_like(input)
    np.copyto(result, input)
    return result


# -------------------- padding --------------------


def constant_pad_nd(input, pad, value):
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)}while the input has {input.ndim}dimensions."
        )
    sides = [(0, 0)] * (input.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2]))[::-1]
    shape = [n + low + high for n, (low, high) in zip(input.shape, sides)]
    if any(n + min(low, 0) + min(high, 0) < 0 for n, (low, high) in zip(input.shape, sides)):
        raise RuntimeError("narrow(): length must be non-negative.")
    geometry.check_room(shape, input.itemsize)
    out = laid_out(np.empty(shape, input.dtype), image_layout.of_padding(input, tuple(shape), pad))
    out[...] = filling(value, out)
    target = tuple(slice(max(low, 0), n - max(high, 0)) for n, (low, high) in zip(shape, sides))
    source = tuple(slice(max(-low, 0), n - max(-high, 0)) for n, (low, high) in zip(input.shape, sides))
    out[target] = input[source]
    return out
