"""Instance normalization layers."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.nn import functional as F
from mindtorch.nn.modules.batchnorm import _NormBase


class _InstanceNorm(_NormBase):
    """Normalizes each channel of each member of a batch."""

    single_ndim = 0
    shapes = ""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in (self.single_ndim, self.single_ndim + 1):
            raise ValueError(f"expected {self.shapes} input (got {input.ndim}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        dim = input.ndim - self.single_ndim
        if input.shape[dim] != self.num_features:
            self._complain(dim, input.shape[dim])
        if input.ndim == self.single_ndim:
            return self._normalize(input.unsqueeze(0)).squeeze(0)
        return self._normalize(input)

    def _complain(self, dim: int, channels: int) -> None:
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {channels}."
            )
        warn(
            f"input's size at dim={dim} does not match num_features. "
            "You can silence this warning by not passing in num_features, which is not used because affine=False",
        )

    def _normalize(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of sequences."""

    single_ndim = 2
    shapes = "2D or 3D"


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images."""

    single_ndim = 3
    shapes = "3D or 4D"


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes."""

    single_ndim = 4
    shapes = "4D or 5D"
