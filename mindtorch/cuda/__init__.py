"""CUDA is not available; queries report this, as in a torch that was built without it.

What frees, counts or seeds has nothing to do, and does it. What needs a device is refused.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NoReturn

from mindtorch._support.errors import OutOfMemoryError
from mindtorch._support.lazy import names_from
from mindtorch._support.unavailable import no_cuda
from mindtorch.cuda import amp, nvtx, random
from mindtorch.cuda.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from mindtorch.cuda.streams import CUDAGraph, Event, ExternalStream, Stream, StreamContext, graph, stream

__all__ = [
    "CUDAGraph", "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext", "amp",
    "can_device_access_peer", "current_blas_handle", "current_device", "current_stream", "default_generators",
    "default_stream", "device", "device_count", "device_of", "empty_cache", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_gencode_flags", "get_rng_state", "get_rng_state_all",
    "get_sync_debug_mode", "graph", "init", "initial_seed", "ipc_collect", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "is_tf32_supported", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_cached", "memory_reserved", "memory_stats", "memory_summary", "nvtx", "random",
    "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_per_process_memory_fraction", "set_rng_state",
    "set_rng_state_all", "set_stream", "set_sync_debug_mode", "stream", "synchronize", "utilization",
]  # fmt: skip

default_generators: tuple = ()  # one for each device


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return False


def is_tf32_supported() -> bool:
    return False


def is_current_stream_capturing() -> bool:
    return False


def device_count() -> int:
    return 0


def get_arch_list() -> list[str]:
    return []


def get_gencode_flags() -> str:
    return ""


# -------------------- memory: there is none --------------------


def empty_cache() -> None:
    """Nothing to free."""


def memory_allocated(device: Any = None) -> int:
    return 0


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    return OrderedDict()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing was counted."""


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated
reset_accumulated_memory_stats = reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


# -------------------- what needs a device --------------------

init = synchronize = current_device = current_stream = default_stream = mem_get_info = memory_summary = no_cuda
get_device_name = get_device_capability = get_device_properties = set_device = set_stream = ipc_collect = no_cuda
can_device_access_peer = current_blas_handle = get_sync_debug_mode = set_sync_debug_mode = utilization = no_cuda
set_per_process_memory_fraction = no_cuda


class device:
    """A block in which another device would be the current one; without a number, or below 0, it changes nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = device if isinstance(device, int) else getattr(device, "index", None)

    def __enter__(self) -> None:
        if self.idx is not None and self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was changed."""


class device_of(device):
    """The same, with the device of a tensor: none of them is on such a device."""

    def __init__(self, obj: Any) -> None:
        super().__init__(None)


_ELEMENTS = "BFloat16 Bool Byte Char ComplexDouble ComplexFloat Double Float Half Int Long Short".split()
_TYPES = frozenset(f"{element}Tensor" for element in _ELEMENTS)


class _MissingType(type):
    """Of the classes that would make tensors of a device; nothing is an instance of them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")


if TYPE_CHECKING:
    from mindtorch._tensor_methods.legacy import BFloat16Tensor as BFloat16Tensor
    from mindtorch._tensor_methods.legacy import BoolTensor as BoolTensor
    from mindtorch._tensor_methods.legacy import ByteTensor as ByteTensor
    from mindtorch._tensor_methods.legacy import CharTensor as CharTensor
    from mindtorch._tensor_methods.legacy import DoubleTensor as DoubleTensor
    from mindtorch._tensor_methods.legacy import FloatTensor as FloatTensor
    from mindtorch._tensor_methods.legacy import HalfTensor as HalfTensor
    from mindtorch._tensor_methods.legacy import IntTensor as IntTensor
    from mindtorch._tensor_methods.legacy import LongTensor as LongTensor
    from mindtorch._tensor_methods.legacy import ShortTensor as ShortTensor
else:

    _rest = names_from("mindtorch.cuda", {})

    def __getattr__(name: str) -> Any:
        if name in _TYPES:
            return _MissingType(name, (), {})
        return _rest(name)
