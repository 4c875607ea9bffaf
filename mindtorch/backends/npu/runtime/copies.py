"""Copies between the CPU and a device, and within a device.

A copy takes its place in the current stream's order. Only from and to pinned memory does it run on its own; with any
other memory of the CPU, the stream is waited for and the copy is made on the spot.
"""

from contextlib import suppress

import numpy as np

from mindtorch.backends.npu.runtime import device, stream
from mindtorch.backends.npu.runtime.api import acl, check
from mindtorch.backends.npu.runtime.codes import CopyKind
from mindtorch.backends.npu.runtime.host_memory import memory_under


def to_device(index: int, address: int, content: np.ndarray, non_blocking: bool = False) -> None:
    """Copy bytes, which lie in one piece, to a device."""
    if not content.nbytes:
        return
    device.use(index)
    own = stream.current(index)
    source = content.__array_interface__["data"][0]
    memory = memory_under(content) if non_blocking else None
    if memory is not None:
        kind = CopyKind.HOST_TO_DEVICE
        code = acl.aclrtMemcpyAsync(address, content.nbytes, source, content.nbytes, kind, own.handle)
        check(code, "aclrtMemcpyAsync")
        memory.used_by(own)
        return
    own.synchronize()
    check(acl.aclrtMemcpy(address, content.nbytes, source, content.nbytes, CopyKind.HOST_TO_DEVICE), "aclrtMemcpy")


def to_host(index: int, address: int, into: np.ndarray, non_blocking: bool = False) -> None:
    """Copy bytes of a device into an array, which lies in one piece."""
    if not into.nbytes:
        return
    device.use(index)
    own = stream.current(index)
    target = into.__array_interface__["data"][0]
    memory = memory_under(into) if non_blocking else None
    if memory is not None:
        kind = CopyKind.DEVICE_TO_HOST
        check(acl.aclrtMemcpyAsync(target, into.nbytes, address, into.nbytes, kind, own.handle), "aclrtMemcpyAsync")
        memory.used_by(own)
        return
    own.synchronize()
    check(acl.aclrtMemcpy(target, into.nbytes, address, into.nbytes, CopyKind.DEVICE_TO_HOST), "aclrtMemcpy")


def within(index: int, target: int, source: int, nbytes: int) -> None:
    """Copy bytes from one place of a device to another, or from another device, in the order of the current stream."""
    if nbytes:
        device.use(index)
        handle = stream.current(index).handle
        kind = CopyKind.DEVICE_TO_DEVICE
        check(acl.aclrtMemcpyAsync(target, nbytes, source, nbytes, kind, handle), "aclrtMemcpyAsync")


def between(index: int, target: int, other: int, source: int, nbytes: int) -> None:
    """Copy bytes to a device from another one: after what that one was given so far, and before what it gets next."""
    if not nbytes:
        return
    if not device.reaches(index, other):
        content = np.empty(nbytes, np.uint8)
        to_host(other, source, content)
        to_device(index, target, content)
        return
    ready, done, own = stream.Event(), stream.Event(), stream.current(index)
    ready.record(stream.current(other))
    own.wait_for(ready)
    within(index, target, source, nbytes)
    try:
        done.record(own)
        stream.current(other).wait_for(done)
    except RuntimeError:  # the other device must not go on before the copy is made
        with suppress(RuntimeError):
            own.synchronize()
        raise


def fill(index: int, address: int, nbytes: int, byte: int) -> None:
    """Set every byte, in the order of the current stream."""
    if nbytes:
        device.use(index)
        handle = stream.current(index).handle
        check(acl.aclrtMemsetAsync(address, nbytes, byte, nbytes, handle), "aclrtMemsetAsync")
