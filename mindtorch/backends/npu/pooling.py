"""Maxima of windows on the NPU by hand: indices are int32 there, and a plane is taken as a volume of depth one.

Of ACLNN's functions only those for volumes give indices, and take NaN, on all chips and in all versions of CANN.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.promotion import INT32, INT64
from mindtorch.backends.cpu.pooling.pooling import Window, window_of
from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.chip import is_younger
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, delivered, delivered_all, placed, placed_all, remembered
from mindtorch.backends.npu.steps import FLOATS, converted, like, with_dim, zeroed

_adaptive = aclnn("aclnnAdaptiveMaxPool3d", "TITT")
_adaptive_backward = aclnn("aclnnAdaptiveMaxPool3dBackward", "TTTT")
_pool = aclnn("aclnnMaxPool3dWithArgmax", "TIIIIbTT")
_pool_backward = aclnn("aclnnMaxPool3dWithArgmaxBackward", "TTTIIIIbT")
_adaptive_rule = remembered(rules.adaptive_max_pool("first_index"), "adaptive_max_pool3d")
_adaptive_grad_rule = remembered(rules.like_second("first"), "adaptive_max_pool3d_backward")
_planes_rule = remembered(rules.max_pool2d("first_index"), "max_pool2d_with_indices")
_volumes_rule = remembered(rules.max_pool3d("first_index"), "max_pool3d_with_indices")


def _sides(window: Window) -> tuple[tuple[int, ...], ...]:
    """Kernel, stride, padding and dilation for three dimensions."""
    if window.dims == 3:
        return window[:4]
    return (1, *window.kernel), (1, *window.stride), (0, *window.padding), (1, *window.dilation)


def _volume(array: NpuArray, dims: int) -> NpuArray:
    return array if dims == 3 else with_dim(array, -2)


def _takes(input: NpuArray, dilation: Sequence[int]) -> bool:
    """A2 and A3 have no spread windows."""
    if input.dtype not in FLOATS:
        return False
    return all([step == 1 for step in dilation]) or type(input) is NpuArray and is_younger(input.root.index)


# -------------------- windows of one size --------------------


def _max_pool(op: str, dims: int, rule: Callable) -> Callable:
    on_cpu = kernel_for(f"{op}_with_indices")

    def kernel(
        input: Any,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
        out: Any = None,
    ) -> tuple[NpuArray, ...]:
        if not _takes(input, dilation):
            return on_cpu(input, kernel_size, stride, padding, dilation, ceil_mode, out=out)
        window = window_of(input, op, kernel_size, stride, padding, dilation, ceil_mode)
        results = placed_all(rule(input, kernel_size, stride, padding, dilation, ceil_mode, out=out), input)
        values, indices = results
        if values.size:
            found = like(indices, INT32)
            shown = [_volume(each, dims) for each in (input, values, found)]
            _pool(shown[0], *_sides(window), ceil_mode, *shown[1:])
            copied(indices, found)
        return results if out is None else delivered_all(results, out)

    return kernel


def _max_pool_backward(op: str, dims: int) -> Callable:
    name = f"{op}_with_indices_backward"
    on_cpu, rule = kernel_for(name), remembered(rules.like_second("first"), name)

    def kernel(
        grad_output: NpuArray,
        input: Any,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
        indices: NpuArray,
        out: Any = None,
    ) -> NpuArray:
        window = window_of(input, op, kernel_size, stride, padding, dilation, ceil_mode)
        shape = (*input.shape[:-dims], *window.size)
        if not _takes(input, dilation) or not _fits(grad_output, input, indices, shape):
            options = () if out is None else (out,)
            return on_cpu(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices, *options)
        given = (grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices)
        result = placed(rule(*given, out=out), input)
        if result.size:
            shown = [_volume(each, dims) for each in (grad_output, input, converted(indices, INT32), result)]
            _pool_backward(*shown[:3], *_sides(window), ceil_mode, shown[3])
        return result if out is None else delivered(result, out)

    return kernel


def _fits(grad: NpuArray, input: NpuArray, indices: NpuArray, shape: tuple[int, ...]) -> bool:
    """Whether gradient and indices are those of a result of that shape; if not, the CPU's kernel says what is wrong."""
    return grad.shape == indices.shape == shape and grad.dtype == input.dtype and indices.dtype == INT64


max_pool2d_with_indices = _max_pool("max_pool2d", 2, _planes_rule)
max_pool2d_with_indices_backward = _max_pool_backward("max_pool2d", 2)
max_pool3d_with_indices = _max_pool("max_pool3d", 3, _volumes_rule)
_volumes_backward = _max_pool_backward("max_pool3d", 3)


def max_pool3d_with_indices_backward(
    grad_output: NpuArray,
    input: NpuArray,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: NpuArray,
) -> NpuArray:
    return _volumes_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices)


# -------------------- windows that cover the input --------------------

_adaptive_on_cpu = kernel_for("adaptive_max_pool3d")
_adaptive_backward_on_cpu = kernel_for("adaptive_max_pool3d_backward")


def adaptive_max_pool3d(input: NpuArray, output_size: Sequence[int], out: Any = None) -> tuple[NpuArray, ...]:
    is_right = input.ndim in (4, 5) and 0 not in input.shape[-4:] and len(output_size) == 3 and min(output_size) > 0
    if not is_right or input.dtype not in FLOATS:
        return _adaptive_on_cpu(input, output_size, out=out)
    results = placed_all(_adaptive_rule(input, output_size, out=out), input)
    values, indices = results
    if values.size:
        found = like(indices, INT32)
        _adaptive(input, output_size, values, found)
        copied(indices, found)
    return results if out is None else delivered_all(results, out)


def adaptive_max_pool3d_backward(grad_output: NpuArray, input: NpuArray, indices: NpuArray) -> NpuArray:
    is_right = input.ndim in (4, 5) and 0 not in input.shape[-4:] and grad_output.shape[:-3] == input.shape[:-3]
    if not is_right or input.dtype not in FLOATS or not _fits(grad_output, input, indices, indices.shape):
        return _adaptive_backward_on_cpu(grad_output, input, indices)
    result = placed(_adaptive_grad_rule(grad_output, input, indices), input)
    if not grad_output.size:
        return zeroed(result)
    _adaptive_backward(grad_output, input, converted(indices, INT32), result)
    return result
