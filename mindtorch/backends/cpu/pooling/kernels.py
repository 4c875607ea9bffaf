"""Kernels of the pooling ops: checks with torch's texts, then the arithmetic of `pooling` and `adaptive_pooling`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.strided import laid_out
from mindtorch._support import errors
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.images import as_image
from mindtorch.backends.cpu.common.precision import check_out, deliver, widen
from mindtorch.backends.cpu.pooling import adaptive_pooling, pooling

Pair = tuple[np.ndarray, np.ndarray]


def _as_image(result: np.ndarray, input: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A new result in the memory format of the input."""
    return result if out is not None else as_image(result, input)


def _with_indices(values: np.ndarray, indices: np.ndarray, input: np.ndarray, out: Pair | None) -> Pair:
    if out is None:
        return _as_image(deliver(values, input), input), _as_image(indices, input)
    return deliver(values, input, out[0]), deliver(indices, indices, out[1])


# -------------------- maximum --------------------


def max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode, out=None):
    return _max_pool(input, "max_pool2d", (kernel_size, stride, padding, dilation), ceil_mode, out)


def max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode, out=None):
    return _max_pool(input, "max_pool3d", (kernel_size, stride, padding, dilation), ceil_mode, out)


def _max_pool(input: np.ndarray, op: str, geometry: tuple[list[int], ...], ceil_mode: bool, out: Pair | None) -> Pair:
    window = pooling.window_of(input, op, *geometry, ceil_mode)
    if out is not None:
        check_out(out[0], input)
    if input.dtype.kind in "bc":
        raise checks.not_implemented(op, input)
    return _with_indices(*quiet(pooling.maximum, widen(input), window), input, out)


def max_pool2d_with_indices_backward(
    grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices, out=None
):
    window = pooling.window_of(input, "max_pool2d", kernel_size, stride, padding, dilation, ceil_mode)
    return _max_pool_backward(grad_output, input, indices, window, out)


def max_pool3d_with_indices_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices):
    window = pooling.window_of(input, "max_pool3d", kernel_size, stride, padding, dilation, ceil_mode)
    return _max_pool_backward(grad_output, input, indices, window, None)


def _max_pool_backward(
    grad_output: np.ndarray, input: np.ndarray, indices: np.ndarray, window: pooling.Window, out: np.ndarray | None
) -> np.ndarray:
    checks.expect_gradient_dtype(grad_output, input, "gradOutput")
    check_out(out, grad_output)
    checks.expect_float(grad_output, f"max_pool{window.dims}d_backward")
    checks.expect_index_dtype(indices)
    if grad_output.shape != indices.shape:
        raise RuntimeError(f"Expected grad_output of shape {list(indices.shape)}, got {list(grad_output.shape)}")
    checks.expect_sizes(grad_output, (*input.shape[: -window.dims], *window.size), "grad_output")
    grad = quiet(pooling.scatter_to, widen(grad_output), indices, input.shape, window.dims, window.overlaps())
    return _as_image(deliver(grad, input, out), input, out)


# -------------------- average --------------------


def avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out=None):
    geometry = (kernel_size, stride, padding, [1], ceil_mode)
    window, divisor = _average_window(input, "avg_pool2d", geometry, count_include_pad, divisor_override)
    _check_averaged(input, "avg_pool2d", out)
    return _as_image(deliver(quiet(pooling.average, widen(input), window, divisor), input, out), input, out)


def avg_pool2d_backward(
    grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out=None
):
    geometry = (kernel_size, stride, padding, [1], ceil_mode)
    window, divisor = _average_window(input, "avg_pool2d", geometry, count_include_pad, divisor_override)
    _check_gradient_size(grad_output, input, window)
    checks.expect_gradient_dtype(grad_output, input, "gradOutput")
    _check_averaged(input, "avg_pool2d_backward", out)
    grad = quiet(pooling.spread, grad_output, input.shape, window, divisor)
    return _as_image(deliver(grad, input, out), input, out)


def avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out=None):
    geometry = (kernel_size, stride, padding, [1], ceil_mode)
    window, divisor = _average_window(input, "avg_pool3d", geometry, count_include_pad, divisor_override)
    check_out(out, input)
    _check_wide(input, "avg_pool3d_out_frame")
    return deliver(quiet(pooling.average, input, window, divisor), input, out)


def avg_pool3d_backward(
    grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    geometry = (kernel_size, stride, padding, [1], ceil_mode)
    window, divisor = _average_window(input, "avg_pool3d", geometry, count_include_pad, divisor_override)
    _check_gradient_size(grad_output, input, window)
    _check_wide(input, "avg_pool3d_backward_out_frame")
    checks.expect_dtype(grad_output, input)
    return quiet(pooling.spread, grad_output, input.shape, window, divisor)


def _average_window(
    input: np.ndarray, op: str, geometry: tuple, count_include_pad: bool, divisor_override: int | None
) -> tuple[pooling.Window, np.ndarray | int]:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    window = pooling.window_of(input, op, *geometry)
    return window, pooling.divisor_of(window, input.shape[-window.dims :], count_include_pad, divisor_override)


def _check_gradient_size(grad_output: np.ndarray, input: np.ndarray, window: pooling.Window) -> None:
    sizes = (input.shape[-window.dims - 1], *window.size)
    for dim, size in enumerate(sizes, input.ndim - len(sizes)):
        checks.expect_size(grad_output, input.ndim, dim, size)
    checks.expect_sizes(grad_output, (*input.shape[: -window.dims], *window.size), "grad_output")


def _check_averaged(input: np.ndarray, kernel: str, out: np.ndarray | None) -> None:
    check_out(out, input)
    if not (checks.is_float(input) or input.dtype == np.int64):
        raise checks.not_implemented(kernel, input)


def _check_wide(input: np.ndarray, kernel: str) -> None:
    if input.dtype not in (np.float32, np.float64, np.int64):
        raise checks.not_implemented(kernel, input)


# -------------------- adaptive --------------------


def adaptive_avg_pool2d(input, output_size):
    _check_adaptive("adaptive_avg_pool2d", input, output_size, 2)
    checks.expect_float(input, "adaptive_avg_pool2d")
    pooled = quiet(adaptive_pooling.adaptive_average, widen(input), tuple(output_size))
    return _as_image(deliver(pooled, input), input)


def adaptive_avg_pool3d(input, output_size):
    _check_adaptive("adaptive_avg_pool3d", input, output_size, 3)
    checks.expect_float(input, "adaptive_avg_pool3d_cpu")
    return laid_out(deliver(quiet(adaptive_pooling.adaptive_average, widen(input), tuple(output_size)), input), None)


def adaptive_avg_pool2d_backward(grad_output, input):
    template = "adaptive_avg_pool2d_backward_out_cpu_template: Expected"
    _check_gradient_dims(grad_output, input, f"{template} dimensions {input.ndim} for `grad_output`")
    checks.expect_gradient_dtype(grad_output, input, "grad_output", template)
    checks.expect_sizes(grad_output, (*input.shape[:-2], *grad_output.shape[-2:]), "grad_output")
    _check_not_empty("adaptive_avg_pool2d_backward", grad_output)
    checks.expect_float(grad_output, "adaptive_avg_pool2d_backward")
    grad = quiet(adaptive_pooling.adaptive_spread, widen(grad_output), input.shape[-2:])
    return _as_image(deliver(grad, input), input)


def adaptive_avg_pool3d_backward(grad_output, input):
    template = "adaptive_avg_pool3d_backward_out_cpu_template: Expected"
    _check_gradient_dims(grad_output, input, f"{template} dimensions {input.ndim} for `gradOutput_`")
    checks.expect_float(input, "adaptive_avg_pool3d_backward_cpu")
    checks.expect_dtype(grad_output, input)
    checks.expect_sizes(grad_output, (*input.shape[:-3], *grad_output.shape[-3:]), "gradOutput_")
    _check_not_empty("adaptive_avg_pool3d_backward", grad_output)
    grad = quiet(adaptive_pooling.adaptive_spread, widen(grad_output), input.shape[-3:])
    return laid_out(deliver(grad, input), None)


def _check_not_empty(op: str, grad_output: np.ndarray, name: str = "grad_output", first: int = 1) -> None:
    for dim in range(first, grad_output.ndim):
        if not grad_output.shape[dim]:
            raise RuntimeError(
                f"{op}(): Expected {name} to have non-zero size for non-batch dimensions, "
                f"but {name} has sizes {list(grad_output.shape)} with dimension {dim} being empty"
            )


def _check_adaptive(op: str, input: np.ndarray, size: Sequence[int], dims: int) -> None:
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(input.shape)}")
    if len(size) != dims:
        raise RuntimeError(f"{op}: output_size must be {dims}")
    if min(size) < 0:
        raise RuntimeError("numel: integer multiplication overflow")


def _check_gradient_dims(array: np.ndarray, input: np.ndarray, expected: str) -> None:
    if array.ndim != input.ndim:
        raise RuntimeError(f"{expected} but got dimensions {array.ndim}")


def adaptive_max_pool2d(input, output_size, out=None):
    return _adaptive_max_pool(input, output_size, "adaptive_max_pool2d", "adaptive_max_pool2d", out)


def adaptive_max_pool3d(input, output_size, out=None):
    return _adaptive_max_pool(input, output_size, "adaptive_max_pool3d", "adaptive_max_pool3d_cpu", out)


def _adaptive_max_pool(input: np.ndarray, size: Sequence[int], op: str, kernel: str, out: Pair | None) -> Pair:
    dims = int(op[-2])
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}")
    _check_not_empty(op, input, "input")
    if len(size) != dims:
        raise RuntimeError(f"{op}(): internal error: output_size.size() must be {dims}")
    if min(size) < 0:
        shape = [*input.shape[:-dims], *size]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {shape}")
    checks.expect_float(input, kernel)
    aligned.check_fits((*input.shape[:-dims], *size), input.dtype)
    aligned.check_walk(input)
    values, indices = adaptive_pooling.adaptive_maximum(widen(input), tuple(size))
    if dims == 3 and out is None:
        return deliver(values, input), indices
    return _with_indices(values, indices, input, out)


def adaptive_max_pool2d_backward(grad_output, input, indices, out=None):
    _check_maxima(grad_output, input, indices, "adaptive_max_pooling2d_backward", "grad_output")
    check_out(out, grad_output)
    checks.expect_float(grad_output, "adaptive_max_pool2d_backward")
    checks.expect_index_dtype(indices)
    grad = quiet(pooling.scatter_to, widen(grad_output), indices, input.shape, 2, True)
    return _as_image(deliver(grad, grad_output, out), input, out)


def adaptive_max_pool3d_backward(grad_output, input, indices):
    _check_maxima(grad_output, input, indices, "adaptive_max_pool3d_backward", "gradOutput")
    checks.expect_float(grad_output, "adaptive_max_pool3d_backward")
    checks.expect_index_dtype(indices)
    grad = quiet(pooling.scatter_to, widen(grad_output), indices, input.shape, 3, True)
    return deliver(grad, grad_output)


def _check_maxima(grad_output: np.ndarray, input: np.ndarray, indices: np.ndarray, op: str, name: str) -> None:
    dims = 3 if "3d" in op else 2
    if grad_output.ndim not in (dims + 1, dims + 2):
        ranks = f"{dims + 1}D or {dims + 2}D"
        raise RuntimeError(f"{op}(): Expected {ranks} {name}, but got: {list(grad_output.shape)}")
    _check_not_empty(op, grad_output, name, grad_output.ndim - dims - 1)
    checks.expect_gradient_dtype(grad_output, input, name)
    _check_gradient_dims(indices, input, f"expected dimensions {input.ndim} for `indices`")
    checks.expect_sizes(grad_output, indices.shape, name)
    checks.expect_sizes(grad_output, (*input.shape[:-dims], *grad_output.shape[-dims:]), name)


# -------------------- the way back --------------------


def max_unpool2d(input, indices, output_size):
    _check_unpooled(input, indices, output_size, 2)
    return _as_image(_unpool(input, indices, output_size), input)


def max_unpool3d(input, indices, output_size, stride, padding):
    _check_unpooled(input, indices, output_size, 3)
    for name, values in (("stride", stride), ("padding", padding)):
        if len(values) != 3:
            raise RuntimeError(
                f"There should be exactly three elements {_NAMES[3]} in {name}, but got: {len(values)} elements."
            )
    errors.check_ints((*stride, *padding))
    if min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
    return _unpool(input, indices, output_size)


_NAMES = {2: "(height, width)", 3: "(depth, height, width)"}


def _check_unpooled_size(input: np.ndarray, size: Sequence[int], dims: int) -> None:
    if len(size) != dims:
        raise RuntimeError(
            f"There should be exactly {'two' if dims == 2 else 'three'} elements {_NAMES[dims]} in output_size, "
            f"but got {len(size)} elements."
        )


def _check_unpooled_rank(input: np.ndarray, size: Sequence[int], dims: int) -> None:
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, "
            f"but got a tensor with {input.ndim} dimensions."
        )


def _check_unpooled(input: np.ndarray, indices: np.ndarray, size: Sequence[int], dims: int) -> None:
    if indices.dtype != np.int64:
        found = f" but got: {checks.scalar_name(indices)}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{found}")
    order = (_check_unpooled_rank, _check_unpooled_size)
    for check in order if dims == 3 else reversed(order):
        check(input, size, dims)
    if input.shape != indices.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) "
            f"but got indices tensor with shape: {list(indices.shape)}"
        )
    if min(size) < 0:
        raise RuntimeError(
            f"max_unpooling{dims}d(): output_size must contain non-negative spatial dimensions, "
            f"but got output_size=({', '.join(map(str, size))})"
        )


def _unpool(input: np.ndarray, indices: np.ndarray, size: Sequence[int]) -> np.ndarray:
    """A zero image of `size` with every element of the input at its index."""
    dims = len(size)
    checks.expect_float(input, f"max_unpool{dims}d")
    plane, outer = prod(size), input.shape[:-dims]
    wrong = indices[(indices < 0) | (indices >= plane)]
    if wrong.size:
        raise RuntimeError(
            f"Found an invalid max index: {wrong[0]} (output volumes are of size {checks.times(size, 'x')})"
        )
    result = np.zeros((prod(outer), plane), input.dtype)
    places = prod(input.shape[-dims:])
    np.put_along_axis(result, indices.reshape(-1, places), input.reshape(-1, places), 1)
    return result.reshape(*outer, *size)
