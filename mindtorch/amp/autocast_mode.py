"""`autocast`: blocks that compute in lower precision where that is good enough.

On the CPU and on NPUs it does; for a GPU, which there is none of, it warns and changes nothing, as in a torch without
one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import numpy as np

from mindtorch._core.device import device as Device
from mindtorch._core.dtype import bfloat16, dtype, float16, float64
from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn
from mindtorch.amp.settings import (
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from mindtorch.dispatch.modes.autocast import DEVICES

_npu: Any = lazy("mindtorch.npu")


def is_autocast_available(device_type: str) -> bool:
    """Whether torch has lower precision for a device."""
    return Device(device_type).type in ("cpu", "cuda", "hpu", "ipu", "maia", "mps", "mtia", "npu", "xla", "xpu")


class autocast:
    """A block, or a decorated function, that computes in lower precision where that is good enough."""

    def __init__(
        self, device_type: str, dtype: dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = Device(device_type).type
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._enabled = bool(enabled) and self._is_possible()
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled

    def _is_possible(self) -> bool:
        if self.device == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            return False
        supported = _npu.amp.get_amp_supported_dtype() if self.device == "npu" else [bfloat16, float16]
        if self.device in DEVICES and self.fast_dtype not in supported:
            name = self.device.upper() if self.device == "cpu" else self.device
            warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n{name} Autocast only "
                f"supports dtypes of {', '.join(map(str, supported))} currently.",
            )
            return False
        return True

    def __enter__(self) -> autocast:
        self._before = is_autocast_enabled(self.device), get_autocast_dtype(self.device), is_autocast_cache_enabled()
        self._set(self._enabled, self.fast_dtype, self._cache_enabled)
        autocast_increment_nesting()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        self._set(*self._before)

    def _set(self, enabled: bool, fast_dtype: dtype, cache_enabled: bool) -> None:
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, fast_dtype)
        set_autocast_cache_enabled(cache_enabled)

    def __call__(self, function: Callable) -> Callable:
        @wraps(function)
        def in_block(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return in_block


class AutocastAsItIs:
    """A block in which autocast is, on all devices, as it was when this was made."""

    def __init__(self) -> None:
        cache = is_autocast_cache_enabled()
        self._blocks = [
            autocast(name, enabled=is_autocast_enabled(name), dtype=get_autocast_dtype(name), cache_enabled=cache)
            for name in DEVICES
        ]

    def __enter__(self) -> None:
        for block in self._blocks:
            block.__enter__()

    def __exit__(self, *exc_info: object) -> None:
        for block in reversed(self._blocks):
            block.__exit__(*exc_info)


# -------------------- functions with gradients of their own --------------------


def custom_fwd(fwd: Callable | None = None, *, device_type: str, cast_inputs: dtype | None = None) -> Callable:
    """The decorator of `forward` of an `autograd.Function`: in a block, it gets its inputs cast and runs without it."""
    _check_device_type(device_type)
    if fwd is None:
        return partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type) and cast_inputs is None
        if cast_inputs is None or not is_autocast_enabled(device_type):
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            args, kwargs = _cast((args, kwargs), device_type, cast_inputs)
            return fwd(ctx, *args, **kwargs)

    return forward


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """The decorator of `backward` of an `autograd.Function`: it runs in the precision of `forward`."""
    _check_device_type(device_type)
    if bwd is None:
        return partial(custom_bwd, device_type=device_type)

    @wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return backward


def _check_device_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _cast(value: Any, device_type: str, to: dtype) -> Any:
    """Floating point tensors of a device, wherever in containers, in another dtype; double ones as they are."""
    if isinstance(value, Tensor):
        is_meant = value.is_floating_point() and value.device.type == device_type and value.dtype is not float64
        return value.to(to) if is_meant else value
    if isinstance(value, (str, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {_cast(key, device_type, to): _cast(each, device_type, to) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(each, device_type, to) for each in value)
    return value
