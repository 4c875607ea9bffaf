"""`LinearCrossEntropyLoss`: a linear layer and the cross entropy of its result in one."""

from __future__ import annotations

from math import prod
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.linear_losses import LinearCrossEntropyOptions
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module


class LinearCrossEntropyLoss(Module):
    """The cross entropy of `linear(input)` against classes; `out_features` are the dimensions of the loss."""

    weight: Tensor | None

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__()
        self.in_features = in_features
        self.num_classes = num_classes
        self.out_features = out_features
        self.bias = bias
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        self.register_buffer("weight", weight)
        self.linear = Linear(in_features, num_classes * prod(out_features), bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.in_features),
            target,
            linear_bias=self.linear.bias.reshape(shape) if self.bias else None,
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        names = "in_features num_classes out_features bias reduction ignore_index label_smoothing options"
        return ", ".join(f"{name}={getattr(self, name)}" for name in names.split())
