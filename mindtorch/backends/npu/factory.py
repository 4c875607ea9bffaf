"""Making arrays of the NPU by hand, and copies: within a device, between two, and from and to the CPU."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import geometry, state
from mindtorch._core.device import as_device
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import layout as Layout
from mindtorch._core.memory_format import checked_format, contiguous_format, memory_format, preserve_format
from mindtorch._core.strided import formatted_strides
from mindtorch.backends.fallback import array_from_host
from mindtorch.backends.npu.array import NpuArray, index_of, new, numbered
from mindtorch.backends.npu.launch import aclnn
from mindtorch.backends.npu.runtime import copies
from mindtorch.backends.npu.sharing import check_copy
from mindtorch.dispatch.keys import backend_for_device
from mindtorch.dispatch.registry import kernel_table

_copy = aclnn("aclnnInplaceCopy", "TT")
_zero = aclnn("aclnnInplaceZero", "T")
_one = aclnn("aclnnInplaceOne", "T")


# -------------------- empty arrays --------------------


def _dtype(wanted: Dtype | None) -> np.dtype:
    return state.default_dtype.numpy if wanted is None else wanted.numpy


def empty(
    size: Sequence[int],
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
    out: Any = None,
) -> NpuArray:
    wanted = _dtype(dtype) if out is None else out.dtype
    strides = _formatted(tuple(size), wanted, memory_format)
    if out is not None:
        return out if out.shape == tuple(size) else new(tuple(size), wanted, out.root.index, strides)
    return new(tuple(size), wanted, index_of(device), strides)


def _formatted(size: tuple[int, ...], dtype: np.dtype, wanted: memory_format | None) -> tuple[int, ...] | None:
    geometry.check_sizes(size)
    if wanted is None or wanted is contiguous_format:
        return None
    return formatted_strides(size, dtype.itemsize, checked_format(wanted, "empty"))


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> NpuArray:
    wanted = _dtype(dtype)
    geometry.check_sizes(size)
    return new(tuple(size), wanted, index_of(device), tuple([step * wanted.itemsize for step in stride]))


def empty_like(
    input: NpuArray,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Any:
    wanted = input.dtype if dtype is None else dtype.numpy
    place = input.device if device is None else as_device(device)
    strides = _strides_like(input, memory_format)
    if place.type != "npu":
        make = kernel_table("empty_strided")[backend_for_device(place.type)]
        return make(input.shape, strides, FROM_NUMPY[wanted], None, place, pin_memory)
    index = input.root.index if place.index is None and device is None else index_of(place)
    return new(input.shape, wanted, index, tuple([step * wanted.itemsize for step in strides]))


def _strides_like(input: NpuArray, wanted: memory_format | None) -> tuple[int, ...]:
    """The strides, in elements, of a new array like another one."""
    if wanted is None or wanted is preserve_format:
        return geometry.preserved_strides(input.shape, geometry.strides_of(input))
    if wanted is contiguous_format:
        return geometry.contiguous_strides(input.shape)
    return formatted_strides(input.shape, 1, checked_format(wanted, "empty_like"))


def zeros_like(
    input: NpuArray,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Any:
    return _filled(empty_like(input, dtype, layout, device, pin_memory, memory_format), 0)


def ones_like(
    input: NpuArray,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Any:
    return _filled(empty_like(input, dtype, layout, device, pin_memory, memory_format), 1)


def full_like(
    input: NpuArray,
    fill_value: Any,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Any:
    array = empty_like(input, dtype, layout, device, pin_memory, memory_format)
    return kernel_table("fill.Scalar")[type(array)](array, fill_value, out=array)


def _filled(array: Any, value: int) -> Any:
    """With zeros or ones."""
    if type(array) is not NpuArray:
        return kernel_table("fill.Scalar")[type(array)](array, value, out=array)
    if array.size:
        (_one if value else _zero)(array)
    return array


# -------------------- copies --------------------


def copy(input: Any, other: Any, non_blocking: bool) -> Any:
    """Write `other`, broadcast and converted, to `input`; one of them is on an NPU."""
    if type(input) is not NpuArray:
        return _to_cpu(input, other, non_blocking)
    if type(other) is not NpuArray:
        other = other.to_numpy() if hasattr(other, "to_numpy") else np.asarray(other)
        return _from_cpu(input, other, non_blocking)
    if input.root.index != other.root.index:
        if _is_like(input, other):
            copies.between(input.root.index, input.address, other.root.index, other.address, other.nbytes)
            return input
        other = _on_another(other, input.root.index)
    return _within(input, other)


def _is_like(input: Any, src: Any) -> bool:
    """Whether the bytes are to be the same."""
    return src.shape == input.shape and src.dtype == input.dtype and src.strides == input.strides and _is_dense(input)


def _within(input: NpuArray, src: NpuArray) -> NpuArray:
    if input is not src:
        _check_fits(input, src)
        check_copy(input, src)
        if input.size:
            _copy(input, src)
    return input


def _check_fits(input: Any, src: Any) -> None:
    """What is copied can be broadcast to where it goes."""
    if src.shape != input.shape:
        extra = len(src.shape) - len(input.shape)
        if extra > 0 or any(size not in (1, own) for size, own in zip(src.shape[::-1], input.shape[::-1])):
            kernel_table("copy_")[np.ndarray](np.empty(input.shape), np.empty(src.shape))  # raises torch's error


def _from_cpu(input: NpuArray, src: np.ndarray, non_blocking: bool) -> NpuArray:
    _check_fits(input, src)
    if not input.size:
        return input
    if _is_like(input, src):
        copies.to_device(input.root.index, input.address, _bytes_of(src), non_blocking)
        return input
    host = src if src.dtype.kind != "M" and _is_dense(src) else np.ascontiguousarray(src)
    return _within(input, array_from_host(host.reshape(src.shape), numbered(input.root.index)))


def _to_cpu(input: np.ndarray, src: NpuArray, non_blocking: bool) -> np.ndarray:
    if _is_like(input, src):
        if input.size:
            copies.to_host(src.root.index, src.address, _bytes_of(input), non_blocking)
        return input
    kernel_table("copy_")[np.ndarray](input, src.to_numpy(), False)
    return input


def _is_dense(array: Any) -> bool:
    return geometry.is_non_overlapping_and_dense(array.shape, array.strides, array.dtype.itemsize)


def _bytes_of(array: np.ndarray) -> np.ndarray:
    """The memory of a dense array, in one piece."""
    order = geometry.memory_order(array.shape, array.strides)[::-1]
    return array.transpose(order).reshape(-1).view(np.uint8)


def _on_another(src: NpuArray, index: int) -> NpuArray:
    """A copy of an array on another device."""
    if not _is_dense(src):
        src = _within(new(src.shape, src.dtype, src.root.index), src)
    target = new(src.shape, src.dtype, index, src.strides)
    if src.size:
        copies.between(index, target.address, src.root.index, src.address, src.nbytes)
    return target


def to_copy(
    input: NpuArray,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: memory_format | None,
) -> Any:
    place = input.device if device is None else as_device(device)
    if place.type == "cpu":
        on_cpu = kernel_table("_to_copy")[np.ndarray]
        return on_cpu(input.to_numpy(), dtype, layout, place, pin_memory, False, memory_format)
    target = empty_like(input, dtype, layout, device, pin_memory, memory_format)
    if type(target) is not NpuArray:
        return kernel_table("copy_")[type(target)](target, input, non_blocking)
    return copy(target, input, non_blocking)
