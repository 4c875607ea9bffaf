"""There is no CUDA here; programs that ask get told so, as by a torch that was built without it."""

from typing import Any, NoReturn

from mindtorch.cuda import amp

__all__ = [
    "amp", "current_device", "current_stream", "device_count", "empty_cache", "get_device_capability",
    "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "init", "initial_seed",
    "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "seed", "seed_all",
    "set_rng_state_all", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return False


def device_count() -> int:
    return 0


# -------------------- what has nothing to do --------------------


def manual_seed(seed: int) -> None:
    """Nothing to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing to seed."""


def seed() -> None:
    """Nothing to seed."""


def seed_all() -> None:
    """Nothing to seed."""


def empty_cache() -> None:
    """Nothing to free."""


def get_rng_state_all() -> list:
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Nothing to set."""


def memory_allocated(device: Any = None) -> int:
    return 0


def max_memory_allocated(device: Any = None) -> int:
    return 0


def memory_reserved(device: Any = None) -> int:
    return 0


def max_memory_reserved(device: Any = None) -> int:
    return 0


# -------------------- what needs a device --------------------


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")


init = synchronize = current_device = current_stream = initial_seed = get_rng_state = mem_get_info = _refuse
get_device_name = get_device_capability = get_device_properties = _refuse
