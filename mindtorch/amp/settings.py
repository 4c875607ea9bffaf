"""What a thread has set about `autocast`: functions at the top of the library, with torch's names."""

from typing import Any

from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype
from mindtorch._support.warnings import warn
from mindtorch.dispatch.modes.autocast import settings


def _device_type(device_type: Any, function: str) -> str:
    if not isinstance(device_type, str):
        found = type(device_type).__name__
        raise TypeError(f"{function}(): argument 'device_type' (position 1) must be str, not {found}")
    return Device(device_type).type


def is_autocast_enabled(device_type: Any = "cuda") -> bool:
    """Whether autocast is on for a type of device."""
    name = _device_type(device_type, "is_autocast_enabled")
    if name == "meta":
        raise RuntimeError("unknown device type for autocast in get_autocast_dispatch_key_from_device_type")
    return settings.is_enabled(name)


def get_autocast_dtype(device_type: Any) -> dtype:
    """The lower precision for a type of device."""
    name = _device_type(device_type, "get_autocast_dtype")
    if name == "meta":
        raise RuntimeError("unsupported scalarType")
    return settings.dtype_of(name)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch autocast for a type of device; a single argument is for CUDA."""
    name, enabled = ("cuda", device_type) if enabled is None else (device_type, enabled)
    name = _device_type(name, "set_autocast_enabled")
    settings.set(name, bool(enabled), settings.dtype_of(name))


def set_autocast_dtype(device_type: Any, dtype: dtype) -> None:
    """Set the lower precision for a type of device."""
    name = _device_type(device_type, "set_autocast_dtype")
    settings.set(name, settings.is_enabled(name), dtype)


def is_autocast_cache_enabled() -> bool:
    return settings.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    settings.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Forget the weights that were cast."""
    settings.weights.clear()


def autocast_increment_nesting() -> int:
    settings.nesting += 1
    return settings.nesting


def autocast_decrement_nesting() -> int:
    settings.nesting -= 1
    return settings.nesting


# -------------------- old names --------------------


def is_autocast_cpu_enabled() -> bool:
    """The old name of `is_autocast_enabled("cpu")`."""
    _warn("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return settings.is_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """The old name of `set_autocast_enabled("cpu", enabled)`."""
    _warn("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """The old name of `get_autocast_dtype("cpu")`."""
    _warn("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return settings.dtype_of("cpu")


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """The old name of `set_autocast_dtype("cpu", dtype)`."""
    _warn("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> dtype:
    """The old name of `get_autocast_dtype("cuda")`."""
    _warn("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return settings.dtype_of("cuda")


def set_autocast_gpu_dtype(dtype: dtype) -> None:
    """The old name of `set_autocast_dtype("cuda", dtype)`."""
    _warn("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def _warn(old: str, new: str) -> None:
    warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", category=DeprecationWarning)
