"""A device whose memory NumPy cannot reach, for the tests of what the library expects of one.

Views are those of all devices; everything else is the CPU's kernel with copies.
"""

from typing import Any

import numpy as np

from mindtorch._core.buffers import Root
from mindtorch._core.device import device
from mindtorch.backends.device_array import DeviceArray
from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.meta.array import MetaArray
from mindtorch.dispatch.keys import register_backend
from mindtorch.dispatch.registry import all_ops, kernel_table, register_fallback

DEVICE = "privateuseone"


class ForeignRoot(Root):
    """Memory of the device: bytes that only its own methods touch."""

    __slots__ = ("_memory", "device")

    address = 0x1000

    def __init__(self, nbytes: int, where: device) -> None:
        super().__init__(nbytes)
        self.device = device(where.type, where.index or 0)
        self._memory = np.full(nbytes, 0xA5, np.uint8)

    def resize(self, nbytes: int) -> None:
        memory = np.full(nbytes, 0xA5, np.uint8)
        kept = min(nbytes, self.nbytes)
        memory[:kept] = self._memory[:kept]
        self._memory, self.nbytes = memory, nbytes

    def fill(self, byte: int) -> None:
        self._memory[:] = byte

    def copy_from(self, source: Any) -> None:
        self._memory[:] = source.to_host()

    def to_host(self, start: int = 0, nbytes: int | None = None) -> np.ndarray:
        return self._memory[start : self.nbytes if nbytes is None else start + nbytes].copy()

    def write(self, start: int, content: np.ndarray) -> None:
        self._memory[start : start + len(content)] = content

    def array(self, shape: tuple, dtype: np.dtype, strides: tuple, byte_offset: int = 0) -> "ForeignArray":
        return ForeignArray(shape, dtype, strides, self, byte_offset)


class ForeignArray(DeviceArray):
    __slots__ = ()

    @classmethod
    def new_root(cls, nbytes: int, where: device) -> ForeignRoot:
        return ForeignRoot(nbytes, where)

    def copy_from(self, source: Any) -> None:
        kernel_table("copy_")[ForeignArray](self, source, False)


def register() -> None:
    """Make the device known to this process."""
    register_backend("PrivateUse1", ForeignArray, DEVICE)
    register_fallback(ForeignArray, cpu_kernel_for)
    for entry in all_ops():
        table = kernel_table(entry.name)
        if getattr(table.get(MetaArray), "serves_all_devices", False):
            table[ForeignArray] = table[MetaArray]
