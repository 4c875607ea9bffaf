"""The arguments of a convolution, checked with torch's texts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.conv.convolution import Geometry

Dims = tuple[int, ...]


def geometry_of(
    dims: int,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    output_padding: list[int],
    groups: int,
) -> Geometry:
    """The geometry for so many spatial dimensions; a list of one number stands for all of them."""
    return _geometry_of(dims, tuple(stride), tuple(padding), tuple(dilation), tuple(output_padding), groups)


@lru_cache(maxsize=256)
def _geometry_of(dims: int, stride: Dims, padding: Dims, dilation: Dims, output_padding: Dims, groups: int) -> Geometry:
    sides = (("stride", stride), ("padding", padding), ("dilation", dilation), ("output_padding", output_padding))
    return Geometry(*(_per_dimension(values, name, dims) for name, values in sides), groups)


def _per_dimension(values: Dims, name: str, dims: int) -> Dims:
    if len(values) == 1:
        return values * dims
    if len(values) != dims:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the convolution "
            f"dimensions, but got {name}={list(values)}"
        )
    return values


def check_dims(input: np.ndarray, weight: np.ndarray) -> None:
    """An input and a weight have batches or filters, channels and at least one side."""
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if input.ndim < 3:
        dims = weight.ndim
        raise RuntimeError(
            f"Expected {dims}-dimensional input for {dims}-dimensional weight {list(weight.shape)}, "
            f"but got {input.ndim}-dimensional input of size {list(input.shape)} instead"
        )


def check_input(
    input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, geometry: Geometry, transposed: bool
) -> None:
    _check_shapes(input, weight, bias, geometry, transposed)
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(
            f"Input type ({checks.c_name(input)}) and bias type ({checks.c_name(bias)}) should be the same"
        )
    checks.expect_dtype(weight, input)
    if not _has_kernel(input.dtype, geometry, transposed):
        raise checks.not_implemented(_kernel_name(geometry, transposed), input)


def check_gradient(
    grad: np.ndarray, input: np.ndarray, weight: np.ndarray, geometry: Geometry, transposed: bool
) -> None:
    _check_shapes(input, weight, None, geometry, transposed)
    if grad.ndim != input.ndim:
        raise RuntimeError(
            "Expected input and grad_output to have the same number of dimensions, but got: "
            f"{input.ndim} and {grad.ndim}"
        )
    checks.expect_dtypes(input, weight, grad)
    channels = weight.shape[1] * geometry.groups if transposed else weight.shape[0]
    size_of = geometry.transposed_size if transposed else geometry.output_size
    for dim, size in enumerate((len(input), channels, *size_of(input.shape[2:], weight.shape[2:]))):
        checks.expect_size(grad, input.ndim, dim, size)


def _check_shapes(
    input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, geometry: Geometry, transposed: bool
) -> None:
    _check_geometry(geometry)
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, "
            f"but got {input.ndim}-dimensional input of size {list(input.shape)} instead"
        )
    _check_groups(weight, geometry.groups)
    _check_channels(input, weight, geometry.groups, transposed)
    _check_bias(weight, bias, geometry.groups, transposed)
    if transposed:
        _check_transposed_size(input, weight, geometry)
    else:
        _check_size(input.shape[2:], weight.shape[2:], geometry)


def _has_kernel(dtype: np.dtype, geometry: Geometry, transposed: bool) -> bool:
    """torch convolves small integers only in the plainest way, complex numbers and booleans not at all."""
    if dtype.kind in "iu" and dtype != np.int64:
        return not transposed and max(geometry.dilation) == 1
    return dtype.kind not in "bc"


def _kernel_name(geometry: Geometry, transposed: bool) -> str:
    """Which of torch's kernels would compute this; it treats one dimension as two."""
    dims = max(2, len(geometry.stride))
    if transposed:
        return f"slow_conv_transpose{dims}d_out_cpu"
    if max(geometry.dilation) > 1:
        return "slow_conv_dilated<>"
    return "slow_conv2d_cpu" if dims == 2 else "compute_columns3d"


@lru_cache(maxsize=256)
def _check_geometry(geometry: Geometry) -> None:
    if min(geometry.dilation) < 0:
        raise RuntimeError("dilation should be greater than zero")
    if min(geometry.padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(geometry.output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(geometry.stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(geometry.dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(geometry.dilation)}")
    if geometry.groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def _check_groups(weight: np.ndarray, groups: int) -> None:
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(weight.shape)} instead"
        )
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{list(weight.shape)}] instead"
        )


def _check_channels(input: np.ndarray, weight: np.ndarray, groups: int, transposed: bool) -> None:
    expected = weight.shape[0] if transposed else weight.shape[1] * groups
    if input.shape[1] != expected:
        what = "transposed=1" if transposed else f"groups={groups}"
        raise RuntimeError(
            f"Given {what}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{expected} channels, but got {input.shape[1]} channels instead"
        )


def _check_bias(weight: np.ndarray, bias: np.ndarray | None, groups: int, transposed: bool) -> None:
    expected = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and bias.shape != (expected,):
        given = "transposed=1, " if transposed else ""
        raise RuntimeError(
            f"Given {given}weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {expected} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )


@lru_cache(maxsize=256)
def _check_size(size: Dims, sides: Dims, geometry: Geometry) -> None:
    padded = [n + 2 * p for n, p in zip(size, geometry.padding)]
    kernel = [d * (k - 1) + 1 for k, d in zip(sides, geometry.dilation)]
    if any(n < k for n, k in zip(padded, kernel)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({checks.times(padded)}). "
            f"Kernel size: ({checks.times(kernel)}). Kernel size can't be greater than actual input size"
        )


def _check_transposed_size(input: np.ndarray, weight: np.ndarray, geometry: Geometry) -> None:
    _check_output_padding(geometry)
    size = geometry.transposed_size(input.shape[2:], weight.shape[2:])
    if min(size) < 1:
        raise RuntimeError(
            f"Given input size per channel: ({checks.times(input.shape[2:])}). Calculated output size per channel: "
            f"({checks.times(size)}). Output size is too small"
        )


def _check_output_padding(geometry: Geometry) -> None:
    limits = map(max, geometry.stride, geometry.dilation)
    if all(extra < limit for extra, limit in zip(geometry.output_padding, limits)):
        return
    names = ("depth", "height", "width")[-max(2, len(geometry.stride)) :]
    values = {key: getattr(geometry, key) for key in ("output_padding", "stride", "dilation")}
    if len(geometry.stride) == 1:  # torch computes one dimension as two
        values = {"output_padding": (0, *values["output_padding"])} | {
            key: (1, *values[key]) for key in ("stride", "dilation")
        }
    listed = (f"{key}_{name}: {value}" for key in values for name, value in zip(names, values[key]))
    raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {' '.join(listed)}")
