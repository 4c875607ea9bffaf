"""Kernels of `im2col` and `col2im`: sliding blocks of images as columns, and columns added up to images."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mindtorch._core import aligned
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.conv.convolution import Geometry, crop, fold, pad, windows

Ints = Sequence[int]


def im2col(input, kernel_size, dilation, padding, stride):
    geometry = _checked_geometry(kernel_size, dilation, padding, stride)
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    blocks = geometry.output_size(input.shape[-2:], tuple(kernel_size))
    if min(blocks) < 1:
        raise RuntimeError(
            f"Given input with spatial size {_shown(input.shape[-2:])}, {_described(kernel_size, geometry, False)}, "
            f"calculated shape of the array of sliding blocks as {_shown(blocks)}, "
            "but its components must be at least one."
        )
    _check_dtype(input, "im2col_out_cpu")
    images = input.reshape(-1, *input.shape[-3:])
    patches = windows(pad(images, geometry), tuple(kernel_size), blocks, geometry)
    columns = patches.reshape(*input.shape[:-3], input.shape[-3] * prod(kernel_size), prod(blocks))
    return np.array(columns, order="C", copy=True if np.may_share_memory(columns, input) else None)


def col2im(input, output_size, kernel_size, dilation, padding, stride):
    if len(output_size) != 2:
        raise RuntimeError(f"It is expected output_size equals to 2, but got size {len(output_size)}")
    geometry = _checked_geometry(kernel_size, dilation, padding, stride)
    blocks = _checked_blocks(input, tuple(output_size), tuple(kernel_size), geometry)
    _check_dtype(input, "col2im_out_cpu")
    result = quiet(_added_up, input, tuple(output_size), tuple(kernel_size), blocks, geometry)
    return np.ascontiguousarray(result)


def _added_up(
    columns: np.ndarray, size: tuple[int, ...], kernel: tuple[int, ...], blocks: tuple[int, ...], geometry: Geometry
) -> np.ndarray:
    channels = columns.shape[-2] // prod(kernel)
    images = columns.reshape(-1, channels, *kernel, *blocks)
    padded = aligned.zeros((len(images), channels, *(n + 2 * p for n, p in zip(size, geometry.padding))), columns.dtype)
    fold(images, padded, kernel, geometry)
    return crop(padded, size, geometry).reshape(*columns.shape[:-2], channels, *size)


def _check_dtype(input: np.ndarray, kernel: str) -> None:
    if input.dtype.kind in "iu":
        raise checks.not_implemented(kernel, input)


def _checked_geometry(kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Geometry:
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    for name, values in given.items():
        if len(values) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    _check_positive("kernel size", "kernel", kernel_size)
    _check_positive("dilation", "dilation", dilation)
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")
    _check_positive("stride", "stride", stride)
    return Geometry(tuple(stride), tuple(padding), tuple(dilation), (0, 0), 1)


def _check_positive(what: str, name: str, values: Ints) -> None:
    if min(values) <= 0:
        raise RuntimeError(
            f"{what} should be greater than zero, but got {name}_height: {values[0]} {name}_width: {values[1]}"
        )


def _checked_blocks(
    input: np.ndarray, size: tuple[int, ...], kernel: tuple[int, ...], geometry: Geometry
) -> tuple[int, ...]:
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(input.shape)}"
        )
    batched = input.ndim - 2
    if input.shape[-2] % prod(kernel):
        raise RuntimeError(
            f"Expected size of input's dimension {batched} to be divisible by the product of kernel_size, "
            f"but got input.size({batched})={input.shape[-2]} and kernel_size={_shown(kernel)}."
        )
    blocks = geometry.output_size(size, kernel)
    if prod(blocks) != input.shape[-1] or min(blocks) < 1:
        raise RuntimeError(
            f"Given output_size={_shown(size)}, {_described(kernel, geometry, True)}, "
            f"expected size of input's dimension {batched + 1} to match the calculated number of sliding blocks "
            f"{blocks[0]} * {blocks[1]} = {prod(blocks)}, but got input.size({batched + 1})={input.shape[-1]}."
        )
    return blocks


def _described(kernel: Ints, geometry: Geometry, with_stride: bool) -> str:
    shown = f"kernel_size={_shown(kernel)}, dilation={_shown(geometry.dilation)}, padding={_shown(geometry.padding)}"
    return f"{shown}, stride={_shown(geometry.stride)}" if with_stride else shown


def _shown(values: Ints) -> str:
    return f"({', '.join(map(str, values))})"
