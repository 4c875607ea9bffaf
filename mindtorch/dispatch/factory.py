"""Options of factory functions: which dtype, and which backend makes the array."""

from typing import Any

from mindtorch import errors, state
from mindtorch.device import as_device
from mindtorch.device import device as Device
from mindtorch.dispatch.arguments import dtype_of
from mindtorch.dispatch.keys import CPU, backend_for_device
from mindtorch.dtype import dtype as Dtype
from mindtorch.layout import layout as Layout
from mindtorch.layout import strided


def factory_options(
    dtype: Any, layout: Any, device: Any, pin_memory: Any, function: str = "empty"
) -> tuple[Dtype | None, type]:
    """The dtype (None when the kernel derives it from its arguments) and the array class of the backend."""
    if device is None is layout and (dtype is None or type(dtype) is Dtype) and state.thread.default_devices is None:
        return dtype, CPU.array_class
    if dtype is not None:
        dtype = dtype_of(dtype, function, "dtype")
    if layout is not None and not isinstance(layout, Layout):
        raise errors.argument_type(function, "layout", None, "torch.layout", layout)
    if device is None and state.thread.default_devices is None:
        return dtype, backend_for_device("cpu", layout or strided)
    return dtype, array_class_for(device, layout, function)


def array_class_for(device: Any, layout: Layout | None = None, function: str = "empty") -> type:
    """The array class that a `device=` argument means."""
    if device is not None and not isinstance(device, (Device, str, int)):
        raise errors.argument_type(function, "device", None, "torch.device", device)
    return backend_for_device(as_device(device).type, layout or strided)
