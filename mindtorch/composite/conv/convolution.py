"""Convolutions by name, of any number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn_once
from mindtorch.composite.padding.padding import pad as pad
from mindtorch.dispatch import ops

# -------------------- convolution --------------------


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    return _convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, False, (0,), groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    return _convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, False, (0, 0), groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    return _convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, False, (0, 0, 0), groups)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    groups: int,
    dilation: tuple[int, ...],
) -> Tensor:
    return _convolve(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    groups: int,
    dilation: tuple[int, ...],
) -> Tensor:
    return _convolve(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    groups: int,
    dilation: tuple[int, ...],
) -> Tensor:
    return _convolve(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


def _convolve(name: str, dims: int, input: Tensor, *arguments: Any) -> Tensor:
    """A convolution of a batch or, one dimension fewer, of a single image."""
    if input.ndim == dims + 2:
        complex_pair = input.is_complex() and arguments[0].is_complex()
        return _convolve_complex(input, *arguments) if complex_pair else ops.convolution(input, *arguments)
    if input.ndim != dims + 1:
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    return _convolve(name, dims, input.unsqueeze(0), *arguments).squeeze(0)


def _convolve_complex(input: Tensor, weight: Tensor, bias: Tensor | None, *geometry: Any) -> Tensor:
    """A complex convolution as three real ones."""
    real_bias, both = (None, None) if bias is None else (bias.real, bias.real + bias.imag)
    real = ops.convolution(input.real, weight.real, real_bias, *geometry)
    imaginary = ops.convolution(input.imag, weight.imag, None, *geometry)
    mixed = ops.convolution(input.real + input.imag, weight.real + weight.imag, both, *geometry)
    return ops.complex(real - imaginary, mixed - real - imaginary)


def conv1d_padding(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: str,
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    return _convolve_named("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d_padding(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: str,
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    return _convolve_named("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d_padding(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: str,
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    return _convolve_named("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _convolve_named(
    name: str,
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: str,
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """A convolution whose padding is a word: "valid" for none, "same" to keep the size."""
    pads: tuple[int, ...] = (0,)
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if padding == "same":
        size = [1] * (input.ndim == dims + 1) + list(input.shape)
        if len(size) != weight.ndim:
            raise RuntimeError(
                f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight{list(weight.shape)}, "
                f"but got {len(size)}-dimensional input of size {size} instead"
            )
        if any(step != 1 for step in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        input, pads = _same_padding(input, weight.shape[2:], tuple(dilation) * (dims if len(dilation) == 1 else 1))
    elif padding != "valid":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return _convolve(name, dims, input, weight, bias, stride, pads, dilation, False, (0,) * len(pads), groups)


def _same_padding(input: Tensor, kernel: Sequence[int], dilation: tuple[int, ...]) -> tuple[Tensor, tuple[int, ...]]:
    """The padding that keeps the size; where it is odd, the input gets the extra element at its end."""
    totals = [d * (k - 1) for k, d in zip(kernel, dilation)]
    if any(total % 2 for total in totals):
        extra = [side for total in reversed(totals) for side in (0, total % 2)]
        warn_once(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
            "input be created"
        )
        input = ops.constant_pad_nd(input, tuple(extra), 0)
    return input, tuple(total // 2 for total in totals)


# -------------------- convolutions along time --------------------


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Of sequences whose first dimension is time and whose last one is that of the channels."""
    _check_conv_tbc(input, weight, bias)
    padded = ops.constant_pad_nd(input, [0, 0, 0, 0, pad, pad]) if pad else input
    width, channels, outputs = weight.shape
    length = padded.size(0) - width + 1
    if length < 0:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {length}: {[length, input.size(1), outputs]}"
        )
    result = bias.expand((length * input.size(1), outputs))
    for step in range(width):
        rows = padded.narrow(0, step, length).reshape((-1, channels))
        result = ops.addmm(result, rows, weight.select(0, step))
    return ops._unsafe_view(result, (length, input.size(1), outputs)).contiguous()  # of samples, too


def _check_conv_tbc(input: Tensor, weight: Tensor, bias: Tensor) -> None:
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.size(2) != weight.size(1):
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.size(2) != bias.size(0):
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
