"""The `npu` device (Ascend). Without the Ascend libraries it says so; with them, a backend serves it: `serve`."""

from ctypes.util import find_library

from mindtorch import errors
from mindtorch.dispatch.keys import register_backend

_LIBRARIES = ("ascendcl", "opapi")


def is_available() -> bool:
    """Whether the Ascend libraries can be found."""
    return all(find_library(name) is not None for name in _LIBRARIES)


def device_count() -> int:
    """How many devices this process can use."""
    return 0 if not is_available() else 1


def serve(array_class: type) -> None:
    """Make arrays of this class what `device="npu"` means: called by the backend when it has found its libraries.

    Its kernels are those that `mindtorch._generated.npu_kernels` lists: a module is imported when an op needs it.
    """
    register_backend("NPU", array_class, "npu")


def synchronize(device: object = None) -> None:
    """Wait until the device has done what it was given."""
    if not is_available():
        raise errors.device_unavailable("npu")
