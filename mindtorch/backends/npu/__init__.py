"""The backend of Ascend NPUs: arrays in device memory, and kernels that call ACLNN through CANN's C interface.

It is imported when a program first asks for the device, if CANN's libraries are there.
"""

from importlib import import_module

from mindtorch.generator import of_devices, seeders
from mindtorch.roots import on_demand


def _register() -> None:
    import_module("mindtorch.backends.npu.backend").register()


def _generator_class() -> type:
    return import_module("mindtorch.backends.npu.generator").NpuGenerator


def _seed(seed: int) -> None:
    """Seed devices that are used later, too: their module reads it when it is imported."""
    global first_seed
    first_seed = seed


first_seed: int | None = None
on_demand["npu"] = _register
of_devices["npu"] = _generator_class
seeders.append(_seed)
