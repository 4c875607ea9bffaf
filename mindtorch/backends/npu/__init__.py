"""The backend of Ascend NPUs: arrays in device memory, and kernels that call ACLNN through CANN's C interface.

It is imported when a program first asks for the device, if CANN's libraries are there.
"""

from importlib import import_module

import numpy as np

from mindtorch._core.buffers import Pinner, makers, on_demand, pinners
from mindtorch._core.device import accelerators
from mindtorch._core.device import device as Device
from mindtorch._core.generator import Generator, OfDevices, of_devices, seeders


def _register() -> None:
    import_module("mindtorch.backends.npu.backend").register()


def _generator_class() -> type:
    return import_module("mindtorch.backends.npu.generator").NpuGenerator


def _default_generator(where: Device) -> Generator:
    generator = import_module("mindtorch.backends.npu.generator")
    return generator.default_of(import_module("mindtorch.backends.npu.array").index_of(where))


def _seed(seed: int) -> None:
    """Seed devices that are used later, too: their module reads it when it is imported."""
    global first_seed
    first_seed = seed


def count() -> int:
    """How many devices this process can use; starts nothing."""
    try:
        return import_module("mindtorch.backends.npu.runtime.device").count()
    except RuntimeError:  # a library that is there and does not load: whoever asks for a device is told why
        return 0


def _in_use() -> list[Device]:
    """All devices, once there is one in use."""
    return [Device("npu", index) for index in range(count())] if "npu" in makers else []


def _pinned(nbytes: int) -> np.ndarray:
    index = import_module("mindtorch.backends.npu.runtime.device").current()
    return import_module("mindtorch.backends.npu.runtime.host_memory").pinned(nbytes, index)


def _is_pinned(array: np.ndarray) -> bool:
    if not count():
        return False
    return import_module("mindtorch.backends.npu.runtime.host_memory").memory_under(array) is not None


first_seed: int | None = None
on_demand["npu"] = _register
of_devices["npu"] = OfDevices(_generator_class, _default_generator, _in_use)
seeders.append(_seed)
accelerators["npu"] = count
pinners["npu"] = Pinner(_pinned, _is_pinned)
