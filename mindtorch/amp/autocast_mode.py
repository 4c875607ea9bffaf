"""`autocast` as programs for GPUs use it: on a computer without one it warns and changes nothing.

There is no lower precision on the CPU here: a block that asks for it is refused, because results would differ from
torch's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mindtorch.device import device as Device
from mindtorch.dtype import bfloat16, dtype, float16
from mindtorch.warning import warn


def is_autocast_available(device_type: str) -> bool:
    """Whether torch has lower precision for a device."""
    return Device(device_type).type in ("cpu", "cuda")


class autocast:
    """A block, or a decorated function, that computes in lower precision where that is good enough."""

    def __init__(
        self, device_type: str, dtype: dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = Device(device_type).type
        self.fast_dtype = dtype or (bfloat16 if self.device == "cpu" else float16)
        self._enabled = enabled and self._is_possible()
        self._cache_enabled = True if cache_enabled is None else cache_enabled

    def _is_possible(self) -> bool:
        if self.device == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            return False
        if self.device == "cpu" and self.fast_dtype not in (bfloat16, float16):
            warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only "
                "supports dtypes of torch.bfloat16, torch.float16 currently.",
            )
            return False
        return True

    def __enter__(self) -> autocast:
        if self._enabled:
            raise NotImplementedError(
                f"autocast to {self.fast_dtype} on the {self.device} device is not implemented: leave it out, pass "
                "enabled=False, or convert the model with model.to(dtype)"
            )
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was changed."""

    def __call__(self, function: Callable) -> Callable:
        @wraps(function)
        def in_block(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return in_block
