"""`DataParallel`, which without several GPUs calls its module."""

from __future__ import annotations

from typing import Any

from mindtorch.nn.modules.module import Module


class DataParallel(Module):
    """A module that would be copied to several GPUs; there is none, so it is called as it is."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
