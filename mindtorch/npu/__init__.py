"""The `npu` device (Ascend). Without the Ascend libraries it says so; with them, `mindtorch.backends.npu` serves it."""

from ctypes.util import find_library

from mindtorch import errors

_LIBRARIES = ("ascendcl", "opapi")


def is_available() -> bool:
    """Whether the Ascend libraries can be found."""
    return all(find_library(name) is not None for name in _LIBRARIES)


def device_count() -> int:
    """How many devices this process can use."""
    return 0 if not is_available() else 1


def synchronize(device: object = None) -> None:
    """Wait until the device has done what it was given."""
    if not is_available():
        raise errors.device_unavailable("npu")
