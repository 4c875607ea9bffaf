"""New arrays like one without data: with its shape only on its own backend, with memory on another."""

from typing import Any

from mindtorch._core import geometry
from mindtorch._core.device import as_device
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import layout as Layout
from mindtorch._core.memory_format import memory_format as MemoryFormat
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.meta.rules import like
from mindtorch.dispatch.keys import backend_for_device
from mindtorch.dispatch.registry import kernel_table

_shaped_like = like(None)


def empty_like(
    input: Any,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Any = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Any:
    shaped = _shaped_like(input, dtype, memory_format)
    if device is None or as_device(device).type == "meta":
        return shaped
    make = kernel_table("empty_strided")[backend_for_device(as_device(device).type)]
    return make(shaped.shape, geometry.strides_of(shaped), FROM_NUMPY[shaped.dtype], None, device, None)


def zeros_like(
    input: Any,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Any = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Any:
    return _filled(empty_like(input, dtype, layout, device, pin_memory, memory_format), 0)


def ones_like(
    input: Any,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Any = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Any:
    return _filled(empty_like(input, dtype, layout, device, pin_memory, memory_format), 1)


def full_like(
    input: Any,
    fill_value: Any,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Any = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Any:
    return _filled(empty_like(input, dtype, layout, device, pin_memory, memory_format), fill_value)


def _filled(target: Any, value: Any) -> Any:
    if type(target) is MetaArray:
        return target
    return kernel_table("fill.Scalar")[type(target)](target, value, target)
