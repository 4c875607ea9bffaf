"""Batch normalization layers."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import int64
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn import functional as F
from mindtorch.nn import init
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


class _NormBase(Module):
    """A weight and a bias for each channel, and running statistics for evaluation."""

    _version = 2
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    weight: Parameter
    bias: Parameter

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        weight = Parameter(ops.empty(num_features, **options)) if affine else None
        self.register_parameter("weight", weight)
        self.register_parameter("bias", Parameter(ops.empty(num_features, **options)) if affine and bias else None)
        self._register_statistics(options)
        self.reset_parameters()

    def _register_statistics(self, options: dict[str, Any]) -> None:
        tracked = self.track_running_stats
        self.register_buffer("running_mean", ops.zeros(self.num_features, **options) if tracked else None)
        self.register_buffer("running_var", ops.ones(self.num_features, **options) if tracked else None)
        count = ops.zeros((), dtype=int64, device=options["device"]) if tracked else None
        self.register_buffer("num_batches_tracked", count)

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.track_running_stats:
            mean, var, count = self.running_mean, self.running_var, self.num_batches_tracked
            assert mean is not None and var is not None and count is not None
            mean.zero_()
            var.fill_(1)
            count.zero_()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, no running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, *rest: Any) -> None:
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            # The counter came with version 2; older files lack it.
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """Normalizes each channel over the batch."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        own_statistics = self.training or self.running_mean is None
        if self.training and not self.track_running_stats:
            mean = var = None
        else:
            mean, var = self.running_mean, self.running_var
        return self._normalized(input, mean, var, own_statistics, momentum)

    def _normalized(
        self, input: Tensor, mean: Tensor | None, var: Tensor | None, own_statistics: bool, momentum: float
    ) -> Tensor:
        return F.batch_norm(input, mean, var, self.weight, self.bias, own_statistics, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (batch, channels) or (batch, channels, length)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.ndim}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (batch, channels, height, width)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 4:
            raise ValueError(f"expected 4D input (got {input.ndim}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (batch, channels, depth, height, width)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 5:
            raise ValueError(f"expected 5D input (got {input.ndim}D input)")
