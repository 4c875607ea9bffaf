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


class _ConstantPad(_Pad):
    """Pads with a value."""

    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    """Pads with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a value."""

    dims = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a value."""

    dims = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a value."""

    dims = 3


class ZeroPad1d(_ZeroPad):
    """Pads the last dimension with zeros."""

    dims = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dimensions with zeros."""

    dims = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dimensions with zeros."""

    dims = 3


class ReflectionPad1d(_Pad):
    """Pads the last dimension with the elements beyond the edge, mirrored."""

    dims = 1
    mode = "reflect"


class ReflectionPad2d(_Pad):
    """Pads the last two dimensions with the elements beyond the edge, mirrored."""

    dims = 2
    mode = "reflect"


class ReflectionPad3d(_Pad):
    """Pads the last three dimensions with the elements beyond the edge, mirrored."""

    dims = 3
    mode = "reflect"


class ReplicationPad1d(_Pad):
    """Pads the last dimension with the element at the edge."""

    dims = 1
    mode = "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two dimensions with the element at the edge."""

    dims = 2
    mode = "replicate"


class ReplicationPad3d(_Pad):
    """Pads the last three dimensions with the element at the edge."""

    dims = 3
    mode = "replicate"


class _CircularPad(_Pad):
    """Pads with the elements of the other side; it looks at the input first."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        least = self.dims + 1
        if input.ndim not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """Pads the last dimension with the elements of the other side."""

    dims = 1


class CircularPad2d(_CircularPad):
    """Pads the last two dimensions with the elements of the other side."""

    dims = 2


class CircularPad3d(_CircularPad):
    """Pads the last three dimensions with the elements of the other side."""

    dims = 3
