"""The simulated device of the tests of this process."""

import gc
import os
from functools import cache

from mindtorch.backends.npu.runtime import allocator, api, descriptors, host_memory, stream
from mindtorch.backends.npu.runtime import device as runtime
from tests.npu_simulator import build
from tests.npu_simulator.device import Device


@cache
def start() -> Device:
    """Build the toolkit, point the environment at it, and give the device: once for the process."""
    toolkit = build.build()
    os.environ.update(toolkit.environment())
    return Device(toolkit)


def recover() -> None:
    """Have a broken device, and what the library knows of it, be as after a restart. Tensors on it are lost."""
    device = start()
    if not api.failed and not device.failures:
        return
    gc.collect()
    for each in list(stream._alive):  # the handles are of a device that is no more
        each.handle = None
    for streams in stream._made.values():
        for each in streams:
            each.handle = None
    device.reset()
    api.failed.clear()
    descriptors.forget()
    allocator._pools.clear()
    for kept in (
        host_memory._all,
        host_memory._free,
        host_memory._released,
        stream._thread.current,
        stream._defaults,
        stream._alive,
        stream._dead,
        stream._made,
        runtime._uses,
        runtime._peers,
    ):
        kept.clear()
    api.active.index = -1
    runtime._state["started"] = False
