"""Ops of the factory family that are written in other ops: new_*, to, ranges by end, polar."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.device import as_device
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import float16, float32, float64, int32, int64
from mindtorch._core.fast_path import has_bare_array
from mindtorch._core.memory_format import preserve_format
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.dispatch import ops

# -------------------- from nothing --------------------


def arange_end_out(end: Any, out: Tensor) -> Tensor:
    return ops.arange_start_step_out(0, end, 1, out=out)


# -------------------- as another tensor --------------------


# -------------------- to --------------------


def to_dtype_layout(
    input: Tensor,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    return _converted(input, dtype, None if device is None else as_device(device), non_blocking, copy, memory_format)


def to_device(
    input: Tensor, device: Any, dtype: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    return _converted(input, dtype, None if device is None else as_device(device), non_blocking, copy, memory_format)


def to_dtype(
    input: Tensor, dtype: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    return _converted(input, dtype, None, non_blocking, copy, memory_format)


def to_other(
    input: Tensor, other: Tensor, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    return _converted(input, other.dtype, other.device, non_blocking, copy, memory_format)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    if input.layout is not other.layout:
        raise RuntimeError(
            "to(options) doesn't support converting to a different layout, but got self.layout being "
            f"{input.layout.shown} and options.layout set as {other.layout.shown}"
        )
    return _converted(input, other.dtype, other.device, False, False, None)


def _converted(
    input: Tensor, dtype: Dtype | None, device: Device | None, non_blocking: bool, copy: bool, memory_format: Any
) -> Tensor:
    """The tensor itself when nothing changes, else a copy."""
    if device is not None and _same_device(input.device, device):
        device = None
    same_dtype = dtype is None or dtype is input.dtype
    if same_dtype and device is None and not copy and _has_format(input, memory_format):
        return input
    wanted_format = None if memory_format is preserve_format else memory_format
    return ops._to_copy(input, dtype=dtype, device=device, non_blocking=non_blocking, memory_format=wanted_format)


def _same_device(own: Device, wanted: Device) -> bool:
    """A CPU tensor has no index, so `cpu:0` is another device, as in torch."""
    if own.type == "cpu" or wanted.index is None:
        return own.type == wanted.type and wanted.index is None
    return own.type == wanted.type and (own.index is None or own.index == wanted.index)


def _has_format(input: Tensor, memory_format: Any) -> bool:
    if memory_format is None or memory_format is preserve_format:
        return True
    return geometry.suggested_format(input._mt_array) is memory_format


# -------------------- indices of triangles --------------------


def empty_permuted(
    size: tuple[int, ...],
    physical_layout: tuple[int, ...],
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    _check_layout(size, physical_layout)
    geometry.check_sizes([size[dim] for dim in physical_layout])
    strides = geometry.strides_in_order(size, physical_layout[::-1])
    return ops.empty_strided(size, strides, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


def _check_layout(size: Sequence[int], physical_layout: Sequence[int]) -> None:
    """Every dimension has its place in memory."""
    ndim = len(size)
    if len(physical_layout) != ndim:
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {ndim} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    for position, dim in enumerate(physical_layout):
        if not 0 <= dim < ndim:
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {ndim - 1}, but got {dim} at index {position}). "
                " NB: negative dims not currently supported; file an issue if you want it."
            )
        if dim in physical_layout[:position]:
            raise RuntimeError("Duplicate dim not allowed")


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    _check_places("tril_indices", row, col, dtype)
    ends = ops.arange(offset + 1, offset + 1 + row, device=device)
    if has_bare_array(ends):
        stops = ends._mt_array.clip(0, col)
        return _places_at_hand(np.zeros_like(stops), stops, dtype)
    ends = ends.clamp(0, col)
    return _places(ops.zeros_like(ends), ends, dtype)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    _check_places("triu_indices", row, col, dtype)
    starts = ops.arange(offset, offset + row, device=device)
    if has_bare_array(starts):
        firsts = starts._mt_array.clip(0, col)
        return _places_at_hand(firsts, np.full_like(firsts, col), dtype)
    starts = starts.clamp(0, col)
    return _places(starts, ops.full_like(starts, col), dtype)


def _places_at_hand(starts: np.ndarray, ends: np.ndarray, dtype: Dtype | None) -> Tensor:
    """`_places` of arrays."""
    counts = ends - starts
    sums = counts.cumsum()
    result = np.empty((2, sums[-1] if sums.size else 0), (dtype or int64).numpy)
    result[0] = np.arange(counts.size).repeat(counts)
    result[1] = np.arange(result.shape[1])
    result[1] -= (sums - ends).astype(result.dtype).repeat(counts)
    return wrap(result)


def _check_places(op: str, row: int, col: int, dtype: Dtype | None) -> None:
    for name, count in (("row", row), ("col", col)):
        if count < 0:
            raise RuntimeError(f"{name} must be non-negative, got{count}")
    if dtype not in (None, int32, int64):
        raise NotImplementedError(f"\"{op}\" not implemented for '{dtype.storage_name}'")


def _places(starts: Tensor, ends: Tensor, dtype: Dtype | None) -> Tensor:
    """The row and column numbers, one line each, of the elements that each row has from its start to its end."""
    counts = ends - starts
    rows = ops.repeat_interleave(counts)
    before = counts.cumsum(0) - ends  # how many elements come before the first of a row, less its column
    places = ops.arange(len(rows), device=starts.device)
    return ops.stack([rows, places - before[rows]]).to(dtype or int64)


# -------------------- complex numbers --------------------


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    for tensor in (abs, angle):
        if tensor.dtype not in (float16, float32, float64):
            raise RuntimeError(
                f"Expected both inputs to be Half, Float or Double tensors but got {abs.dtype.storage_name} and "
                f"{angle.dtype.storage_name}"
            )
    if abs.dtype is not angle.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {abs.dtype.storage_name} but got scalar type {angle.dtype.storage_name} "
            "for second argument"
        )
    if abs.dtype is float16:
        raise NotImplementedError("\"polar_cpu\" not implemented for 'Half'")
    return ops.complex(abs * angle.cos(), abs * angle.sin())


def polar_out(abs: Tensor, angle: Tensor, *, out: Tensor) -> Tensor:
    result = polar(abs, angle)
    if out.dtype is not result.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {result.dtype.storage_name} but got scalar type {out.dtype.storage_name} "
            "for argument 'out'"
        )
    return write_out(out, result)
