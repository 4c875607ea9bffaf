"""Mixed precision on NPUs, under the names of old programs."""

from typing import Any

from mindtorch._core.dtype import bfloat16, dtype, float16, float32
from mindtorch.amp.autocast_mode import autocast as _autocast
from mindtorch.amp.grad_scaler import GradScaler as _GradScaler
from mindtorch.npu.devices import is_bf16_supported


class autocast(_autocast):  # noqa: N801  its name in torch
    """`torch.autocast("npu")`."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    """`torch.amp.GradScaler("npu")`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("npu", *args, **kwargs)


def get_amp_supported_dtype() -> list[dtype]:
    """The dtypes in which autocast computes."""
    return [float16, bfloat16, float32] if is_bf16_supported() else [float16, float32]
