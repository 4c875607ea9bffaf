"""Which NPUs there are, and which one this thread works with."""

from typing import Any, NamedTuple

from mindtorch._core.device import device as Device
from mindtorch._core.dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from mindtorch._core.dtype import bool as bool_dtype
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch.backends import npu as backend
from mindtorch.backends.npu.runtime import device as runtime

_WITHOUT_BFLOAT16 = ("Ascend910A", "Ascend910ProA", "Ascend910PremiumA", "Ascend310")


def is_available() -> bool:
    """Whether there is a device. Never an error."""
    return device_count() > 0


def device_count() -> int:
    """How many devices this process can use; starts nothing."""
    return backend.count()


def init() -> None:
    """Start the runtime, which the first use of a device does by itself."""
    runtime.start()


def is_initialized() -> bool:
    return runtime.is_started()


def current_device() -> int:
    """The number of this thread's device; that starts the runtime."""
    runtime.start()
    return runtime.current()


def set_device(device: Any) -> None:
    """Have this thread work with a device."""
    index = index_of(device, optional=True)
    if index >= 0:
        runtime.choose(index)


def synchronize(device: Any = None) -> None:
    """Wait until a device has done everything that it was given."""
    runtime.synchronize(runtime.checked(index_of(device)))


class device:
    """A block in which a device is this thread's."""

    def __init__(self, device: Any) -> None:
        self.idx = index_of(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = runtime.current()
        if self.idx >= 0:
            runtime.choose(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        if self.idx >= 0:
            runtime.choose(self.prev_idx)


class device_of(device):
    """The same with the device of a tensor; of one that is elsewhere, nothing changes."""

    def __init__(self, obj: Tensor) -> None:
        super().__init__(obj.device.index if obj.device.type == "npu" else -1)


def index_of(device: Any, optional: bool = False) -> int:
    """The number of a device given as one, or as text or number; this thread's if none is given."""
    if device is None:
        return -1 if optional else runtime.current()
    if isinstance(device, int):
        return device
    found = Device(device)
    if found.type != "npu":
        raise ValueError(f"Expected a npu device, but got: {found}")
    if found.index is None:
        return runtime.current()
    return found.index


# -------------------- what they are --------------------


class _Properties(NamedTuple):
    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    cube_core_num: int
    vector_core_num: int
    L2_cache_size: int


class DeviceProperties(_Properties):
    """What is known about a device."""

    __slots__ = ()
    torch_name = "torch_npu._C._NPUDeviceProperties"


def get_device_name(device: Any = None) -> str:
    """What the chip is called: "Ascend910B1"."""
    return runtime.soc_name(runtime.checked(index_of(device)))


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name and memory; what CANN's runtime does not tell is 0."""
    index = index_of(device)
    if not 0 <= index < device_count():
        raise errors.device_unavailable("npu") if not device_count() else AssertionError("Invalid device id")
    _, total = runtime.memory_info(index)
    return DeviceProperties(runtime.soc_name(index), 0, 0, total, 0, 0, 0, 0)


def get_device_capability(device: Any = None) -> None:
    """There is none: it is CUDA's number of a generation."""


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that had started the runtime."""
    return runtime.is_forked()


_DTYPES = (bool_dtype, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128)


def _capability(device: Any = None) -> dict[str, Any]:
    """What `torch.accelerator.get_device_capability` tells."""
    return {"supported_dtypes": {*_DTYPES, *((bfloat16,) if is_bf16_supported() else ())}}


def utilization(device: Any = None) -> int:
    """Refused: only the driver's management library knows how busy a device is."""
    raise NotImplementedError("torch.npu.utilization asks the driver's management library (npu-smi), which is not used")


def is_bf16_supported() -> bool:
    """Whether this thread's device computes in bfloat16."""
    return is_available() and not get_device_name().startswith(_WITHOUT_BFLOAT16)


def can_device_access_peer(device_id: Any, peer_device_id: Any) -> bool:
    """Whether a device can reach the memory of another one."""
    index, peer = index_of(device_id), index_of(peer_device_id)
    for number in (index, peer):
        if not 0 <= number < device_count():
            raise AssertionError("Invalid device id" if number is index else "Invalid peer device id")
    return runtime.can_access_peer(index, peer)
