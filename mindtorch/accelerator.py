"""The accelerator: whatever type of device there is besides the CPU. Programs that ask are told if there is none."""

from collections import OrderedDict
from importlib import import_module
from types import ModuleType
from typing import Any

from mindtorch._core.device import accelerator, accelerators
from mindtorch._core.device import device as Device
from mindtorch._support import errors
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)

_modules: dict[str, Any] = {name: lazy(f"mindtorch.{name}") for name in ("cpu", "cuda", "mps", "npu", "xpu")}


def is_available() -> bool:
    """Whether there is one."""
    return accelerator() is not None


def device_count() -> int:
    """How many devices there are of it."""
    kind = accelerator()
    return 0 if kind is None else accelerators[kind]()


def current_accelerator(check_available: bool = False) -> Device | None:
    """The type of device to use, without a number; None if there is none."""
    kind = accelerator()
    return None if kind is None else Device(kind)


def _module() -> Any:
    kind = accelerator()
    if kind is None:
        raise errors.no_accelerator()
    return _modules[kind]


def _index(device: Any, optional: bool = True) -> int:
    """The number of a device of the accelerator; the current one's, if that is enough."""
    if isinstance(device, int):
        return device
    module = _module()
    found = None if device is None else Device(device)
    if found is not None and found.type != accelerator():
        raise ValueError(f"{found.type} doesn't match the current accelerator {accelerator()}.")
    if found is not None and found.index is not None:
        return found.index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return module.current_device()


# -------------------- devices and streams --------------------


def current_device_index() -> int:
    """The number of this thread's device."""
    return _module().current_device()


def set_device_index(device: Any, /) -> None:
    """Have this thread work with a device; a negative number changes nothing."""
    _module().set_device(_index(device, optional=False))


def current_device_idx() -> int:
    """The old name of `current_device_index`."""
    warn("Use `current_device_index` instead.", category=FutureWarning)
    return current_device_index()


def set_device_idx(device: Any, /) -> None:
    """The old name of `set_device_index`."""
    warn("Use `set_device_index` instead.", category=FutureWarning)
    set_device_index(device)


class device_index:  # noqa: N801  its name in torch
    """A block in which a device, given by its number, is this thread's; None changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is not None:
            self.prev_idx = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        if self.idx is not None:
            set_device_index(self.prev_idx)


def current_stream(device: Any = None, /) -> Any:
    """The stream on which this thread launches."""
    module = _module()
    return module.current_stream(_index(device))


def set_stream(stream: Any) -> None:
    """Launch on a stream from now on, and on its device."""
    _module().set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    """Wait until a device has done everything that it was given."""
    module = _module()
    module.synchronize(_index(device))


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """What a device can do: `supported_dtypes`."""
    module = _module()
    return module._capability(_index(device))


# -------------------- memory --------------------


def empty_cache() -> None:
    """Give the devices back the memory that no tensor is in."""
    _module().empty_cache()


def empty_host_cache() -> None:
    """Give back the pinned memory that no tensor is in."""
    _module().empty_host_cache()


def memory_stats(device_index: Any = None, /) -> "OrderedDict[str, Any]":
    """What the allocator counts."""
    module = _module()
    return OrderedDict(module.memory_stats(_index(device_index)))


def memory_allocated(device_index: Any = None, /) -> int:
    """The bytes that tensors are in."""
    module = _module()
    return module.memory_allocated(_index(device_index))


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes that tensors were in at a time."""
    module = _module()
    return module.max_memory_allocated(_index(device_index))


def memory_reserved(device_index: Any = None, /) -> int:
    """The bytes that the allocator has of the device."""
    module = _module()
    return module.memory_reserved(_index(device_index))


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most bytes that the allocator had of the device at a time."""
    module = _module()
    return module.max_memory_reserved(_index(device_index))


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Count anew what comes and goes."""
    module = _module()
    module.reset_accumulated_memory_stats(_index(device_index))


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Have the most of everything be what there is now."""
    module = _module()
    module.reset_peak_memory_stats(_index(device_index))


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """The free and the total memory of a device, in bytes."""
    module = _module()
    return module.mem_get_info(_index(device_index))


# -------------------- the module of a device --------------------


def get_device_module(device: Any = None) -> ModuleType:
    """The module of a type of device: that of the accelerator, or of the CPU, if none is given."""
    if device is None:
        kind = accelerator() or "cpu"
    elif isinstance(device, (str, Device)):
        kind = Device(device).type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    if kind not in _modules:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return import_module(f"mindtorch.{kind}")
