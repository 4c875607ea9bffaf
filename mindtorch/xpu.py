"""No such device is available; queries report this."""

from typing import Any

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def is_initialized() -> bool:
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return False


def memory_allocated(device: Any = None) -> int:
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def empty_cache() -> None:
    """There is no memory to give back."""


def manual_seed(seed: int) -> None:
    """There is nothing to seed."""


manual_seed_all = manual_seed


def _refuse(*args: Any, **kwargs: Any) -> Any:  # NoReturn would hide what follows a call from type checkers
    raise AssertionError("Torch not compiled with XPU enabled")


current_device = current_stream = get_device_name = init = synchronize = _refuse
