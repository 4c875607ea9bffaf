"""The numbers of arange and linspace, rounded as torch's vectorized loops round them."""

import math
from typing import Any

import numpy as np

from mindtorch._core import aligned, geometry
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.fused import fused_multiply_add
from mindtorch.backends.cpu.common.numbers import checked_number

Array = np.ndarray

# How many numbers torch computes together from one rounded first number; two such groups at a time, then one by one.
_INTEGERS = {np.dtype(np.float32): 1 << 24, np.dtype(np.float64): 1 << 53}  # up to where every one has a number
_LANES = {"float16": 16, "bfloat16": 16, "float32": 8, "float64": 4}


def arange_length(start: Any, end: Any, step: Any, dtype: np.dtype) -> int:
    """How many numbers there are; torch's errors for ranges that make no sense."""
    if not (step > 0 or step < 0):
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype == np.int64:
        if not int(step):
            raise ValueError("step must be nonzero")
        length = -((int(start) - int(end)) // int(step))
    else:
        length = math.ceil((end - start) / step)
    if length > geometry.MOST:
        raise RuntimeError("invalid size, possible overflow?")
    geometry.check_room((length,), dtype.itemsize)
    aligned.check_fits((length,), dtype)
    return length


def arange_values(start: Any, step: Any, length: int, dtype: np.dtype) -> Array:
    if dtype.kind in "iu":
        first, step = int(start), int(step)
        return np.arange(length, dtype=np.int64 if dtype != np.int64 or step != 1 else dtype) * step + first
    if _are_exact(start, step, length, dtype):
        return np.arange(length, dtype=dtype) * dtype.type(step) + dtype.type(start)
    work = np.dtype(np.float32 if dtype.itemsize == 2 else np.float64)
    index = np.arange(length, dtype=work)
    exact = fused_multiply_add(index, work.type(step), work.type(start))
    values = cast(exact, dtype)
    lanes = _LANES[dtype.name]
    grouped = length // (2 * lanes) * (2 * lanes)
    if grouped:
        lane = index[:grouped] % lanes
        firsts = cast(values[:grouped:lanes], work).repeat(lanes)
        values[:grouped] = cast(fused_multiply_add(lane, work.type(step), firsts), dtype)
    return values


def _are_exact(start: Any, step: Any, length: int, dtype: np.dtype) -> bool:
    """Whether all numbers, and those computed on the way, are integers that a float32 or float64 holds."""
    largest = _INTEGERS.get(dtype, 0)
    return abs(start) + length * abs(step) < largest and start == int(start) and step == int(step)


def linspace_values(start: Any, end: Any, steps: int, dtype: np.dtype) -> Array:
    """From both ends to the middle, so that the last number is exact."""
    if not steps:
        return np.empty(0, dtype)
    if steps == 1:
        return checked_number(start, dtype).reshape(1).copy()
    aligned.check_fits((steps,), dtype)
    first, last = checked_number(start, dtype), checked_number(end, dtype)
    work = np.dtype(np.float64) if dtype.kind in "iu" else dtype
    index = np.arange(steps).astype(np.float64 if work.kind == "c" else work)
    low, high = work.type(first), work.type(last)
    step = quiet(np.subtract, high, low) / index.dtype.type(steps - 1)
    half = steps // 2
    values = np.empty(steps, work)
    values[:half] = quiet(_line, index[:half], step, low)
    values[half:] = quiet(_line, index[::-1][half:], -step, high)
    return np.trunc(values) if dtype.kind in "iu" else values


def _line(index: Array, step: Any, first: Any) -> Array:
    if index.dtype.itemsize < 4 or isinstance(step, np.complexfloating):
        return first + step * index
    return fused_multiply_add(index, step, first)
