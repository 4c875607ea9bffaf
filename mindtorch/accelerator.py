"""There is no accelerator here; programs that ask get told so."""

from types import ModuleType
from typing import Any

from mindtorch import cpu, cuda
from mindtorch.device import device as Device


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """The device to use, of which there is none."""


def _refuse(*args: Any, **kwargs: Any) -> Any:  # NoReturn would hide what follows a call from type checkers
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_index = set_device_index = synchronize = current_stream = set_stream = _refuse
empty_cache = empty_host_cache = memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = (
    _refuse
)
memory_stats = reset_peak_memory_stats = reset_accumulated_memory_stats = get_memory_info = _refuse
get_device_capability = _refuse


def get_device_module(device: Any = None) -> ModuleType:
    """The module of a type of device: that of the CPU, if none is given."""
    kind = Device("cpu" if device is None else device).type
    modules = {"cpu": cpu, "cuda": cuda}
    if kind not in modules:
        raise RuntimeError(f"Invalid device module 'torch.{kind}' for device type '{kind}'")
    return modules[kind]
