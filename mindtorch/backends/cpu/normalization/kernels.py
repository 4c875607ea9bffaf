"""Kernels of batch and layer normalization: checks with torch's texts, then the arithmetic of `normalization`."""

from __future__ import annotations

from math import prod

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.promotion import DOUBLE
from mindtorch._core.strided import laid_out
from mindtorch._support.float_errors import quiet
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.computing import FLOATS
from mindtorch.backends.cpu.common.precision import deliver, deliver_all, widen
from mindtorch.backends.cpu.compiled.choice import IS_ON
from mindtorch.backends.cpu.normalization import normalization
from mindtorch.iterator.constants import kept_constant

# -------------------- normalization --------------------


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, out=None):
    if IS_ON and training and out is None:
        given = input, weight, bias, running_mean, running_var
        if (found := quiet(normalization.normalize_few_channels, *given, momentum, eps)) is not None:
            return found
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
        mean, invstd = widen(running_mean), _reciprocal_deviation(widen(running_var), eps)
        nothings = np.empty(0, x.dtype), np.empty(0, x.dtype)
        return normalization.normalize_channels(x, mean, invstd, weight, bias), *nothings
    mean, variance, centred = normalization.channel_statistics(x)
    count = x.shape[0] * x.shape[2]
    if running_mean is not None:
        normalization.update_running(running_mean, mean, momentum)
    if running_var is not None:
        corrected = variance * kept_constant(count, DOUBLE)
        corrected /= kept_constant(count - 1, DOUBLE)
        normalization.update_running(running_var, corrected, momentum)
    invstd = _reciprocal_deviation(variance, eps)
    return normalization.scale_channels(x, mean, centred, invstd, weight, bias), mean, invstd


def native_batch_norm_backward(
    grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
):
    if IS_ON and train:
        given = grad_out, input, weight, save_mean, save_invstd
        if (found := quiet(normalization.few_channel_gradients, *given)) is not None:
            return tuple([each if asked else None for each, asked in zip(found, output_mask)])
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
    deviation = variance + kept_constant(eps, variance.dtype)
    np.sqrt(deviation, deviation)
    return np.divide(kept_constant(1, variance.dtype), deviation, deviation)


def _by_channel(array: np.ndarray) -> np.ndarray:
    shape = array.shape
    return array.reshape(*shape[:2], prod(shape[2:]))


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    shape = tuple(normalized_shape)
    dims = len(shape)
    statistics = (*input.shape[: input.ndim - dims], *(1,) * dims)
    if _is_plain(input, shape, weight, bias):
        x = normalization.rows_of(input, dims)
        out, mean, rstd = quiet(normalization.normalize_rows, x, _flat(weight), _flat(bias), eps)
        return out.reshape(input.shape), mean.reshape(statistics), rstd.reshape(statistics)
    _check_layer_norm(input, shape, weight, bias)
    x = normalization.rows_of(widen(input), dims)
    out, mean, rstd = quiet(normalization.normalize_rows, x, _flat(widen(weight)), _flat(widen(bias)), eps)
    like = input if weight is None else weight
    return (
        deliver(out.reshape(input.shape), input),
        deliver(mean.reshape(statistics), like),
        deliver(rstd.reshape(statistics), like),
    )


def _is_plain(input: np.ndarray, shape: tuple[int, ...], weight: np.ndarray | None, bias: np.ndarray | None) -> bool:
    """Whether all is of one dtype in which can be computed, and fits together: nothing to refuse or to convert."""
    dtype = input.dtype
    if not shape or dtype not in FLOATS or input.shape[-len(shape) :] != shape:
        return False
    if weight is not None and (weight.dtype is not dtype or weight.shape != shape):
        return False
    return bias is None or (bias.dtype is dtype and bias.shape == shape)


def native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):
    shape = tuple(normalized_shape)
    if input.size <= normalization.FEW and _are_plain_gradients(grad_out, input, shape, mean, rstd, weight, bias):
        dims = len(shape)
        rows = normalization.rows_of(grad_out, dims), normalization.rows_of(input, dims)
        grads = quiet(normalization.few_row_gradients, *rows, mean, rstd, _flat(weight), output_mask)
        sizes = input.shape, shape, shape
        return tuple([each if each is None else each.reshape(size) for each, size in zip(grads, sizes)])
    _check_layer_norm_sizes(input, shape, weight, bias)
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


def _are_plain_gradients(
    grad: np.ndarray,
    input: np.ndarray,
    shape: tuple[int, ...],
    mean: np.ndarray,
    rstd: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
) -> bool:
    """The same of what there is going back, with several rows and columns."""
    if not input.size or not _is_plain(input, shape, weight, bias) or grad.shape != input.shape:
        return False
    rows = input.size // prod(shape)
    is_of_dtype = grad.dtype is mean.dtype is rstd.dtype is input.dtype
    return is_of_dtype and mean.size == rstd.size == rows and 1 < rows < input.size


def _flat(array: np.ndarray | None) -> np.ndarray | None:
    return array if array is None or array.ndim == 1 else array.reshape(-1)


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
