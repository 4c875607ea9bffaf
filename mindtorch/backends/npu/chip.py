"""What chips do differently from each other, as CANN's documents have it."""

from functools import lru_cache

from mindtorch.backends.npu.runtime.device import soc_name

_YOUNGER = ("Ascend950", "Ascend910_95")


@lru_cache
def is_younger(index: int) -> bool:
    """Whether the device is an Ascend 950, and no A2, A3 or older."""
    return soc_name(index).startswith(_YOUNGER)
