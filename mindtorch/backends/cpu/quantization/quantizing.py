"""Kernels of fake quantization: numbers are rounded as integers of few bits would have them, and stay floats."""

from typing import Any

import numpy as np

from mindtorch._core import aligned, geometry
from mindtorch._core.promotion import FLOAT
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import largest, smallest
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.common.reducing import store

Array = np.ndarray
Pair = tuple[Array, Array]


def fake_quantize_per_tensor(
    input: Array, scale: float, zero_point: int, quant_min: int, quant_max: int, out: Pair | None = None
) -> Pair:
    _check_range(quant_min, quant_max)
    _check_zero_point(np.asarray(zero_point), quant_min, quant_max)
    _check_floating(input, "fake_quantize_tensor_cachemask_kernel_type_handling")
    return _deliver(quiet(_quantized, input, FLOAT.type(scale), FLOAT.type(zero_point), quant_min, quant_max), out)


def fake_quantize_per_tensor_of_tensors(
    input: Array,
    scale: Array,
    zero_point: Array,
    fake_quant_enabled: Array,
    quant_min: int,
    quant_max: int,
    out: Pair | None = None,
) -> Pair:
    """Where the switch is 0, everything stays as it is."""
    _check_range(quant_min, quant_max)
    _check_floating(input, "fake_quantize_tensor_cachemask_kernel_type_handling")
    if not fake_quant_enabled.item():
        return _deliver((input.copy(), np.ones(input.shape, bool)), out)
    numbers = FLOAT.type(_number_in(scale)), FLOAT.type(int(_number_in(zero_point)))
    return _deliver(quiet(_quantized, input, *numbers, quant_min, quant_max), out)


def fake_quantize_per_channel(
    input: Array,
    scale: Array,
    zero_point: Array,
    axis: int,
    quant_min: int,
    quant_max: int,
    out: Pair | None = None,
) -> Pair:
    """A scale and a zero point for each element of a dimension."""
    _check_channels(scale, zero_point)
    _check_range(quant_min, quant_max)
    if scale.shape[0] != input.shape[geometry.wrap_dim(axis, input.ndim)]:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    aligned.check_walk(zero_point)
    _check_zero_point(zero_point, quant_min, quant_max)
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    _check_floating(input, "fake_quantize_channel_cachemask_cpu_type_handling")
    shape = [-1 if dim == axis else 1 for dim in range(input.ndim)]
    scales, zeros = (widen(each).reshape(shape) for each in (scale, zero_point))
    return _deliver(quiet(_quantized, input, scales.astype(FLOAT), zeros, quant_min, quant_max), out)


def _quantized(input: Array, scale: Any, zero_point: Any, low: int, high: int) -> Pair:
    """The numbers that the integers stand for, and which of them lie in the range.

    A zero point that is an integer is added after rounding.
    """
    wide = widen(input)
    scaled = wide * (FLOAT.type(1) / scale)
    zero = np.asarray(zero_point, wide.dtype)
    is_whole = np.ndim(zero_point) == 0 or zero_point.dtype.kind == "i"
    places = zero + np.rint(scaled) if is_whole else np.rint(scaled + zero)
    kept = np.fmin(np.fmax(places, low), high)
    values = (kept - zero) * scale
    return cast(np.asarray(values, wide.dtype), input.dtype), np.asarray((places >= low) & (places <= high))


def _deliver(results: Pair, out: Pair | None) -> Pair:
    if out is None:
        return results
    values, mask = (store(result, result.dtype, target) for result, target in zip(results, out))
    return values, mask


def _number_in(array: Array) -> Any:
    if array.size != 1:
        raise RuntimeError(f"a Tensor with {array.size} elements cannot be converted to Scalar")
    return array.reshape(()).item()


def _check_range(low: int, high: int) -> None:
    if low > high:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


def _check_zero_point(zero_point: Array, low: int, high: int) -> None:
    if zero_point.size and (smallest(zero_point) < low or largest(zero_point) > high):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


def _check_floating(input: Array, kernel: str) -> None:
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(input)}'")


def _check_channels(scale: Array, zero_point: Array) -> None:
    if scalar_name(scale) not in ("Float", "BFloat16"):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scalar_name(scale)}")
    if scalar_name(zero_point) not in ("Int", "Float", "Half"):
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {scalar_name(zero_point)}")
    for name, array in (("scale", scale), ("zero point", zero_point)):
        if array.ndim != 1:
            raise RuntimeError(f"{name} should be a 1-D tensor")
    if scale.size != zero_point.size:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
