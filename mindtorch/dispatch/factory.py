"""Options of factory functions: which dtype, and which backend makes the array."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from mindtorch._core import state
from mindtorch._core.buffers import is_pinned, pinned_copy
from mindtorch._core.device import CPU as HOST
from mindtorch._core.device import accelerator, as_device
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch.dispatch.arguments.conversions import dtype_of
from mindtorch.dispatch.keys import CPU, backend_for_device
from mindtorch.dispatch.registry import kernel_table, register_fallback


def factory_options(
    dtype: Any, layout: Any, device: Any, pin_memory: Any, function: str = "empty"
) -> tuple[Dtype | None, type]:
    """The dtype (None when the kernel derives it from its arguments) and the array class of the backend."""
    is_here = device is HOST or (device is None and state.thread.default_devices is None)
    if is_here and layout is None and (pin_memory is False or pin_memory is None):
        if dtype is None or type(dtype) is Dtype:
            return dtype, CPU.array_class
    if dtype is not None:
        dtype = dtype_of(dtype, function, "dtype")
    _check_types(layout, device, pin_memory, function)
    if pin_memory:
        _check_pinned(as_device(device))
        return dtype, PinnedHost
    if device is None and state.thread.default_devices is None:
        return dtype, backend_for_device("cpu", layout or strided)
    return dtype, array_class_for(device, layout, function)


def check_options(layout: Any, device: Any, pin_memory: Any, function: str) -> None:
    """Refuse options that are none, and memory that cannot be pinned."""
    _check_types(layout, device, pin_memory, function)
    if pin_memory:
        _check_pinned(device)


def refuse_pinned(function: str) -> NoReturn:
    raise NotImplementedError(f"{function}(pin_memory=True): use .pin_memory() on the result instead")


def with_options(result: Tensor, pin_memory: bool, requires_grad: Any, function: str) -> Tensor:
    """What a factory has made, in pinned memory if that is wanted, and as a leaf if that is."""
    if pin_memory:
        result = _pinned(result)
    mark_leaf(result, requires_grad, function)
    return result


def mark_leaf(result: Tensor, requires_grad: Any, function: str) -> None:
    """Have what a factory has made require grad, if that is wanted."""
    if _wants_grad(requires_grad, function):
        result.requires_grad = True


def _wants_grad(requires_grad: Any, function: str) -> bool:
    if requires_grad is None or isinstance(requires_grad, bool):
        return bool(requires_grad)
    raise errors.argument_type(function, "requires_grad", None, "bool", requires_grad)


def _pinned(result: Tensor) -> Tensor:
    """The result in pinned memory; another factory may have put it there."""
    array = result._mt_array
    if not isinstance(array, np.ndarray):
        raise _not_to_be_pinned()
    return result if is_pinned(array) else wrap(pinned_copy(array))


class PinnedHost:
    """Stands for the CPU where memory is to be pinned: its kernels are the CPU's, the results are copied."""


def _pinned_kernel(op: str) -> Callable:
    kernel = kernel_table(op)[np.ndarray]
    return lambda *args, **kwargs: pinned_copy(kernel(*args, **kwargs))


register_fallback(PinnedHost, _pinned_kernel)


def _check_pinned(device: Any) -> None:
    if accelerator() is None:
        raise errors.no_pinned_memory()
    if device is not None and as_device(device).type != "cpu":
        raise _not_to_be_pinned()


def _not_to_be_pinned() -> RuntimeError:
    return RuntimeError("Only dense CPU tensors can be pinned")


def _check_types(layout: Any, device: Any, pin_memory: Any, function: str) -> None:
    if layout is not None and not isinstance(layout, Layout):
        raise errors.argument_type(function, "layout", None, "torch.layout", layout)
    _check_device(device, function)
    if pin_memory is not None and not isinstance(pin_memory, bool):
        raise errors.argument_type(function, "pin_memory", None, "bool", pin_memory)


def check_out_options(out: Any, dtype: Any, layout: Any, device: Any, requires_grad: Any, function: str) -> None:
    """What is asked for must be what `out` has, which is not converted. (Whether it is a tensor is looked at later.)"""
    _wants_grad(requires_grad, function)
    if dtype is layout is device is None or not isinstance(out, Tensor):
        return
    check_options(layout, device, None, function)
    if dtype is not None and (dtype := dtype_of(dtype, function, "dtype")) is not out.dtype:
        shown = out.dtype.storage_name
        raise RuntimeError(f"dtype {dtype.storage_name} does not match dtype of out parameter ({shown})")
    if layout is not None and layout is not out.layout:
        raise RuntimeError(f"layout {layout.shown} does not match layout of out parameter ({out.layout.shown})")
    if device is not None and (wanted := as_device(device).type) != out.device.type:
        raise RuntimeError(f"device type {wanted} does not match device type of out parameter ({out.device.type})")


def _check_device(device: Any, function: str) -> None:
    if device is not None and (isinstance(device, bool) or not isinstance(device, (Device, str, int, np.integer))):
        raise errors.argument_type(function, "device", None, "torch.device", device)


def array_class_for(device: Any, layout: Layout | None = None, function: str = "empty") -> type:
    """The array class that a `device=` argument means."""
    _check_device(device, function)
    return backend_for_device(as_device(device).type, layout or strided)
