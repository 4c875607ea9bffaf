"""The old names of what is in `mindtorch.amp`."""

from collections.abc import Callable
from typing import Any

from mindtorch import amp
from mindtorch._core.dtype import dtype, float16
from mindtorch._support.warnings import warn
from mindtorch.amp import autocast_mode as autocast_mode
from mindtorch.amp import grad_scaler as grad_scaler

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)


class autocast(amp.autocast):
    """The old name of `autocast("cuda")`."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """The old name of `GradScaler("cuda")`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradScaler")
        super().__init__("cuda", *args, **kwargs)


def custom_fwd(fwd: Callable | None = None, *, cast_inputs: dtype | None = None) -> Callable:
    """The old name of `custom_fwd(device_type="cuda")`."""
    _warn("custom_fwd", "args..., device_type='cuda'")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable | None = None) -> Callable:
    """The old name of `custom_bwd(device_type="cuda")`."""
    _warn("custom_bwd", "args..., device_type='cuda'")
    return amp.custom_bwd(bwd, device_type="cuda")


def _warn(name: str, arguments: str = "'cuda', args...") -> None:
    warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}({arguments})` instead.",
        category=FutureWarning,
    )
