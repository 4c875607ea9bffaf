"""What makes `device="npu"` mean something: the array class, and where each op's kernel comes from.

Views take those of all devices, which launch nothing; what ACLNN does in one call is generated; the rest is written by
hand, or left to the CPU's kernel with copies.
"""

import threading

from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.runtime import libraries
from mindtorch.dispatch.keys import backend_names, register_backend
from mindtorch.dispatch.registry import all_ops, kernel_table, register_fallback

_lock = threading.Lock()


def register() -> None:
    """Register the backend, if CANN's libraries are there and it is not registered already."""
    with _lock:
        if "NPU" not in backend_names() and libraries.is_present():
            _register()


def _register() -> None:
    for entry in all_ops():
        table = kernel_table(entry.name)
        if getattr(table.get(MetaArray), "serves_all_devices", False):
            table[NpuArray] = table[MetaArray]
    register_fallback(NpuArray, kernel_for)
    register_backend("NPU", NpuArray, "npu")
