"""The old names of what is in `mindtorch.amp`."""

from typing import Any

from mindtorch import amp
from mindtorch._core.dtype import bfloat16, dtype
from mindtorch._support.warnings import warn

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)


class autocast(amp.autocast):
    """The old name of `autocast("cpu")`."""

    def __init__(self, enabled: bool = True, dtype: dtype = bfloat16, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """The old name of `GradScaler("cpu")`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradScaler")
        super().__init__("cpu", *args, **kwargs)


def _warn(name: str) -> None:
    warn(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cpu', args...)` instead.",
        category=FutureWarning,
    )
