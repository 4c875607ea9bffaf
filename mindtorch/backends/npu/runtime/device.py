"""The devices of this process: how many there are, and which one a thread works with.

The runtime starts with the first call that needs a device. A device's context belongs to a thread: whatever calls the
runtime asks `use` first, which is a comparison where nothing has changed.
"""

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator
from ctypes import c_int32, c_size_t, c_uint32
from typing import Any

from mindtorch._support import errors
from mindtorch.backends.npu.runtime import api, libraries
from mindtorch.backends.npu.runtime.api import acl, active, check, check_usable, failed, optional, out_pointer
from mindtorch.backends.npu.runtime.codes import HBM, REPEAT_INITIALIZE, SUCCESS

_LAST_CALLS = 0.02  # seconds in which other threads end the calls that they are in


class _Thread(threading.local):
    """`wanted`: the device that programs have chosen."""

    wanted = 0


_thread = _Thread()
_lock = threading.RLock()
_state: dict[str, Any] = {"started": False, "forked": False, "ended": False, "count": None}
_uses: dict[int, int] = {}  # how often each device was set, and so has to be given back
_peers: dict[tuple[int, int], bool] = {}  # whether the first device reaches the memory of the second one
at_exit: list[Callable[[], None]] = []  # what has to be done before the devices are given back, last first
after_fork: list[Callable[[], None]] = []  # how children of the process forget what only their parent has

_FORKED = (
    "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the 'spawn' start "
    "method"
)


def _after_fork() -> None:
    if _state["started"]:
        _state["forked"] = True
        api.refuse(_FORKED)
        for action in after_fork:
            action()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# -------------------- start and end --------------------


def is_started() -> bool:
    return _state["started"] and not _state["forked"]


def is_forked() -> bool:
    """Whether the runtime was started before this process was forked from another one, so that it cannot be used."""
    return _state["forked"]


def start() -> None:
    """Start the runtime, once for the process."""
    if _state["forked"]:
        raise RuntimeError(_FORKED)
    if _state["started"]:
        return
    if _state["ended"]:
        raise RuntimeError("the NPU cannot be used any more: the interpreter is ending")
    with _lock:
        if _state["started"]:
            return
        if not libraries.is_present():
            raise errors.device_unavailable("npu")
        code = acl.aclInit(None)
        if code not in (SUCCESS, REPEAT_INITIALIZE):
            api.raise_code(code, "aclInit")
        _state["started"] = True
        atexit.register(_end)


def _end() -> None:
    """At exit. Daemon threads go on meanwhile: what they have begun comes to its end, and they begin nothing more."""
    _state["ended"] = True
    stop()


def stop() -> None:
    """Give back what the process has of the devices, in the order in which it depends on one another.

    Devices finish first what they were given: the runtime takes memory away at once, whoever is still using it.
    """
    if not is_started():
        return
    _state["started"] = False
    if threading.active_count() > 1:
        time.sleep(_LAST_CALLS)
    for index in sorted(_uses):
        if _set(index) == SUCCESS:
            acl.aclrtSynchronizeDevice()
    for action in reversed(at_exit):
        action()
    for index, times in sorted(_uses.items()):
        for _ in range(times):
            acl.aclrtResetDevice(index)
    _uses.clear()
    _peers.clear()
    acl.aclFinalize()
    active.index = -1


def each_used() -> Iterator[int]:
    """The devices that have to be tidied up, each while the calls of this thread mean it, whatever has become of it."""
    for index in sorted(_uses):
        if _set(index) == SUCCESS:
            yield index


# -------------------- devices --------------------


def count() -> int:
    """How many devices the process can use; 0 where there are no libraries. Never an error, and starts nothing."""
    if _state["count"] is None:
        _state["count"] = _counted() if libraries.is_present() else 0
    return _state["count"] or 0


def _counted() -> int | None:
    """None where that could not be found out: then it is asked again."""
    function = optional("drvGetDevNum")
    number, address = out_pointer(c_uint32)
    if function is not None:
        return _visible(number.value) if function(address) == SUCCESS else None
    return number.value if optional("aclrtGetDeviceCount")(address) == SUCCESS else None


def _visible(there: int) -> int:
    """How many of the machine's devices ASCEND_RT_VISIBLE_DEVICES leaves; none if it is not ascending."""
    text = os.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    if text is None:
        return there
    try:
        numbers = [int(each) for each in text.split(",")]
    except ValueError:
        return 0
    if any(one >= other for one, other in zip(numbers, numbers[1:])):
        return 0
    return sum(0 <= number < there for number in numbers)


def current() -> int:
    """The device that this thread's programs have chosen."""
    return _thread.wanted


def choose(index: int) -> None:
    """Have this thread's programs work with a device; that starts the runtime."""
    use(index)
    _thread.wanted = index


def checked(index: int) -> int:
    if not 0 <= index < count():
        if not count():
            raise errors.device_unavailable("npu")
        raise RuntimeError(
            f"Invalid device ID. npu:{index} was asked for, and there are devices 0 to {count() - 1}: "
            "ASCEND_RT_VISIBLE_DEVICES says which ones the process can use"
        )
    return index


def use(index: int) -> None:
    """Have the runtime's calls of this thread mean a device."""
    if active.index == index and not failed and _state["started"] and not _state["forked"]:
        return
    start()
    check_usable(index)
    if active.index != index:
        code = _set(checked(index))
        if code != SUCCESS:
            api.raise_code(code, "aclrtSetDevice", index)


def _set(index: int) -> int:
    """The code of the runtime's answer."""
    code = acl.aclrtSetDevice(index)
    if code == SUCCESS:
        active.index = index
        with _lock:
            _uses[index] = _uses.get(index, 0) + 1
    return code


def synchronize(index: int) -> None:
    """Wait until a device has done everything that it was given."""
    use(index)
    check(acl.aclrtSynchronizeDevice(), "aclrtSynchronizeDevice")
    use(index)


def memory_info(index: int) -> tuple[int, int]:
    """The free and the total memory of a device, in bytes."""
    use(index)
    (free, free_address), (total, total_address) = out_pointer(c_size_t), out_pointer(c_size_t)
    check(acl.aclrtGetMemInfo(HBM, free_address, total_address), "aclrtGetMemInfo")
    return free.value, total.value


def soc_name(index: int) -> str:
    """What the chip is called: "Ascend910B1"."""
    use(index)
    name = acl.aclrtGetSocName()
    return name.decode() if name else "unknown"


def can_access_peer(index: int, peer: int) -> bool:
    use(index)
    answer, address = out_pointer(c_int32)
    check(acl.aclrtDeviceCanAccessPeer(address, index, peer), "aclrtDeviceCanAccessPeer")
    return bool(answer.value)


def reaches(index: int, peer: int) -> bool:
    """Whether a device can copy from the memory of another one; if it can, it may from now on."""
    found = _peers.get((index, peer))
    if found is None:
        found = can_access_peer(index, peer)
        if found:
            use(index)
            check(acl.aclrtDeviceEnablePeerAccess(peer, 0), "aclrtDeviceEnablePeerAccess")
        _peers[index, peer] = found
    return found
