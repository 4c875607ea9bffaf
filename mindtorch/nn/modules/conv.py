"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn import functional as F
from mindtorch.nn import init
from mindtorch.nn.modules.module import NO_PARAMETERS, Module
from mindtorch.nn.parameter import Parameter

_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}
_PADDING_WORDS = {"same", "valid"}


def _per_dimension(value: Any, dims: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


class _ConvNd(Module):
    """What the convolutions share: the geometry, the parameters and how they are printed."""

    dims = 0
    transposed = False
    _op: Callable[..., Tensor]
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _per_dimension(kernel_size, self.dims)
        self.stride = _per_dimension(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else _per_dimension(padding, self.dims)
        self.dilation = _per_dimension(dilation, self.dims)
        self.output_padding = _per_dimension(output_padding, self.dims)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check()
        self._edge_padding = self._padding_of_edges()
        ends = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (ends[0], ends[1] // groups, *self.kernel_size)
        self.weight = Parameter(ops.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(ops.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str):
            self._check_padding_word()
        if self.padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{self.padding_mode}'"
            )

    def _check_padding_word(self) -> None:
        if self.padding not in _PADDING_WORDS:
            raise ValueError(f"Invalid padding string '{self.padding}', should be one of {_PADDING_WORDS}")
        if self.padding == "same" and any(step != 1 for step in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")

    def _padding_of_edges(self) -> list[int]:
        """The padding as `pad` takes it, for the modes that do not pad with zeros."""
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            sides = [(total // 2, total - total // 2) for total in totals]
        elif isinstance(self.padding, str):  # "valid"
            sides = [(0, 0)] * self.dims
        else:
            sides = [(padding, padding) for padding in self.padding]
        return [size for pair in reversed(sides) for size in pair]

    def reset_parameters(self) -> None:
        """Uniform numbers within 1 / sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        ones, zeros = (1,) * self.dims, (0,) * self.dims
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, usual in (("padding", zeros), ("dilation", ones), ("output_padding", zeros), ("groups", 1)):
            value = getattr(self, name)
            text += f", {name}={value}" if value != usual else ""
        text += ", bias=False" if self.bias is None else ""
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


class _Forward(_ConvNd):
    """A convolution that is not transposed."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            0,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        parameters: dict[str, Any] = self._parameters if self._has_plain_lookup else NO_PARAMETERS
        # A weight that is computed, by a parametrization or by a hook, is an ordinary attribute.
        weight = parameters["weight"] if "weight" in parameters else self.weight
        return self._conv_forward(input, weight, parameters["bias"] if "bias" in parameters else self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution with any weight: layers of other libraries call it with one that they compute."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._edge_padding, mode=self.padding_mode)
            padding = (0,) * self.dims
        return self._op(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Forward):
    """Convolution over one dimension."""

    dims = 1
    _op = staticmethod(ops.conv1d)


class Conv2d(_Forward):
    """Convolution over two dimensions."""

    dims = 2
    _op = staticmethod(ops.conv2d)


class Conv3d(_Forward):
    """Convolution over three dimensions."""

    dims = 3
    _op = staticmethod(ops.conv3d)


class _Transposed(_ConvNd):
    """The transpose of a convolution: it spreads each element of the input over a window."""

    transposed = True
    padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self.dims, self.dilation
        )
        return self._op(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Any,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """The output padding that gives the wanted size, which must be one that the stride allows."""
        if output_size is None:
            return self.output_padding
        wanted = _sizes_of_dimensions(output_size, input.ndim, num_spatial_dims)
        sizes = input.shape[-num_spatial_dims:]
        smallest = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(sizes, stride, padding, dilation or (1,) * num_spatial_dims, kernel_size)
        ]
        largest = [low + step - 1 for low, step in zip(smallest, stride)]
        if not all(low <= size <= high for low, size, high in zip(smallest, wanted, largest)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {input.shape[2:]})"
            )
        return [size - low for size, low in zip(wanted, smallest)]


def _sizes_of_dimensions(output_size: Sequence[int], ndim: int, dims: int) -> Sequence[int]:
    """An output size without those of batch and channels."""
    others = 2 if ndim == dims + 2 else 1
    if len(output_size) == others + dims:
        return output_size[others:]
    if len(output_size) == dims:
        return output_size
    raise ValueError(
        f"ConvTranspose{dims}D: for {ndim}D input, output_size must have {dims} or {others + dims} elements "
        f"(got {len(output_size)})"
    )


class ConvTranspose1d(_Transposed):
    """The transpose of a convolution over one dimension."""

    dims = 1
    _op = staticmethod(ops.conv_transpose1d)


class ConvTranspose2d(_Transposed):
    """The transpose of a convolution over two dimensions."""

    dims = 2
    _op = staticmethod(ops.conv_transpose2d)


class ConvTranspose3d(_Transposed):
    """The transpose of a convolution over three dimensions."""

    dims = 3
    _op = staticmethod(ops.conv_transpose3d)


# torch's names of the base class, which libraries ask about.
_ConvTransposeNd = _ConvTransposeMixin = _Transposed
