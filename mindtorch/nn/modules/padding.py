"""Padding layers."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules.module import Module


class _Pad(Module):
    """Pads the last `dims` dimensions on both sides."""

    dims: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    """Pads with a value."""

    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with a value."""

    dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with a value."""

    dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with a value."""

    dims = 3


class _ZeroPad(_ConstantPadNd):
    """Pads with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pads the last dimension with zeros."""


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pads the last two dimensions with zeros."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pads the last three dimensions with zeros."""


class _ReflectionPadNd(_Pad):
    """Pads with the elements beyond the edge, mirrored."""

    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last dimension with the elements beyond the edge, mirrored."""

    dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last two dimensions with the elements beyond the edge, mirrored."""

    dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last three dimensions with the elements beyond the edge, mirrored."""

    dims = 3


class _ReplicationPadNd(_Pad):
    """Pads with the element at the edge."""

    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last dimension with the element at the edge."""

    dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last two dimensions with the element at the edge."""

    dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last three dimensions with the element at the edge."""

    dims = 3


class _CircularPadNd(_Pad):
    """Pads with the elements of the other side; it looks at the input first."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        least = self.dims + 1
        if input.ndim not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Pads the last dimension with the elements of the other side."""

    dims = 1


class CircularPad2d(_CircularPadNd):
    """Pads the last two dimensions with the elements of the other side."""

    dims = 2


class CircularPad3d(_CircularPadNd):
    """Pads the last three dimensions with the elements of the other side."""

    dims = 3
