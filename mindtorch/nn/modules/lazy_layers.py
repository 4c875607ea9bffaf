"""Layers that take the number of their inputs from their first input."""

from __future__ import annotations

from typing import Any, cast

from mindtorch._core.dtype import int64
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d, _BatchNorm
from mindtorch.nn.modules.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from mindtorch.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, _InstanceNorm
from mindtorch.nn.modules.lazy import LazyModuleMixin
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.parameter import UninitializedBuffer, UninitializedParameter


class LazyLinear(LazyModuleMixin, Linear):
    """A linear layer without the number of its inputs."""

    cls_to_become = Linear
    weight: UninitializedParameter
    bias: UninitializedParameter

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """What the layer does with its parameters when it has them."""
        if self.in_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # the parameters were loaded
            self.in_features = self.weight.shape[-1]


# -------------------- convolutions --------------------


class _LazyConvolution(LazyModuleMixin):
    def _make_lazy(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        """Put parameters without a shape in the place of those of no channels."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        """What the layer does with its parameters when it has them."""
        if self.in_channels != 0 and not self.has_uninitialized_params():
            cast(Any, super()).reset_parameters()

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._channels_of(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        ends = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        self.weight.materialize((ends[0], ends[1] // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _channels_of(self: Any, input: Tensor) -> int:
        single = self.dims + 1
        if input.dim() not in (single, single + 1):
            raise RuntimeError(
                f"Expected {single}D (unbatched) or {single + 1}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        return input.shape[input.dim() - single]


class _LazyForward(_LazyConvolution):
    def __init__(
        self,
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
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class _LazyTransposed(_LazyConvolution):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):  # type: ignore[misc]
    """A convolution without the number of its input channels."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):  # type: ignore[misc]
    """A convolution without the number of its input channels."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):  # type: ignore[misc]
    """A convolution without the number of its input channels."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):  # type: ignore[misc]
    """A transposed convolution without the number of its input channels."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):  # type: ignore[misc]
    """A transposed convolution without the number of its input channels."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):  # type: ignore[misc]
    """A transposed convolution without the number of its input channels."""

    cls_to_become = ConvTranspose3d


# -------------------- normalizations --------------------


class _LazyNormalization(LazyModuleMixin):
    def __init__(
        self: Any,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        if self.affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if self.track_running_stats:
            self.running_mean = UninitializedBuffer(**options)
            self.running_var = UninitializedBuffer(**options)
            self.num_batches_tracked = tensor(0, dtype=int64, device=device)

    def reset_parameters(self: Any) -> None:
        """What the layer does with its parameters when it has them."""
        if self.num_features != 0 and not self.has_uninitialized_params():
            cast(Any, super()).reset_parameters()

    def initialize_parameters(self: Any, input: Tensor) -> None:
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for each in (self.weight, self.bias, self.running_mean, self.running_var):
            if each is not None:
                each.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormalization, _BatchNorm):  # type: ignore[misc]
    """Batch normalization without the number of channels."""

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormalization, _BatchNorm):  # type: ignore[misc]
    """Batch normalization without the number of channels."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormalization, _BatchNorm):  # type: ignore[misc]
    """Batch normalization without the number of channels."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class LazyInstanceNorm1d(_LazyNormalization, _InstanceNorm):  # type: ignore[misc]
    """Instance normalization without the number of channels."""

    cls_to_become = InstanceNorm1d
    single_ndim = InstanceNorm1d.single_ndim
    shapes = InstanceNorm1d.shapes


class LazyInstanceNorm2d(_LazyNormalization, _InstanceNorm):  # type: ignore[misc]
    """Instance normalization without the number of channels."""

    cls_to_become = InstanceNorm2d
    single_ndim = InstanceNorm2d.single_ndim
    shapes = InstanceNorm2d.shapes


class LazyInstanceNorm3d(_LazyNormalization, _InstanceNorm):  # type: ignore[misc]
    """Instance normalization without the number of channels."""

    cls_to_become = InstanceNorm3d
    single_ndim = InstanceNorm3d.single_ndim
    shapes = InstanceNorm3d.shapes
