"""Batch normalization over the batches of several processes; here of one."""

from __future__ import annotations

from typing import Any

from mindtorch.nn.modules.batchnorm import _BatchNorm
from mindtorch.nn.modules.module import Module
from mindtorch.tensor import Tensor


class SyncBatchNorm(_BatchNorm):
    """With one process this is an ordinary batch normalization, of inputs of any number of dimensions."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Module:
        """A module in which every batch normalization is a SyncBatchNorm, with the same tensors."""
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            result._parameters = module._parameters
            result._buffers = module._buffers
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
