"""Kernels that count: how often numbers occur, and how many elements lie between given edges."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.promotion import BOOL, FLOAT, INT64
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import largest, smallest
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.common.reducing import scalar_name, store
from mindtorch.backends.cpu.factory.ranges import linspace_values

Array = np.ndarray
Pair = tuple[Array, Array]


def bincount(input: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    if input.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{scalar_name(input.dtype)}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input.shape == (0,):
        return aligned.zeros((minlength,), INT64)
    aligned.check_fits((minlength,), INT64)
    aligned.check_fits(input.shape, input.dtype)  # NumPy wants the numbers in a row
    if input.ndim != 1 or smallest(input) < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return np.bincount(input, minlength=minlength).astype(INT64)
    if weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    sums = np.bincount(input, weights.astype(np.float64), minlength)
    return sums.astype(FLOAT) if weights.dtype == FLOAT else sums


# -------------------- between edges --------------------


def histogram_count(
    input: Array,
    bins: int = 100,
    range: Sequence[float] | None = None,
    weight: Array | None = None,
    density: bool = False,
    out: Pair | None = None,
) -> Pair:
    _check_outs(input, out)
    _check_weight(input, weight)
    _check_count(bins)
    low, high = quiet(_outer_edges, input, range)
    if input.dtype == BOOL:
        raise NotImplementedError("\"linspace_cpu\" not implemented for 'Bool'")
    return _histogram(input, linspace_values(low, high, bins + 1, input.dtype), weight, density, out)


def histogram_edges(
    input: Array, bins: Array, weight: Array | None = None, density: bool = False, out: Pair | None = None
) -> Pair:
    _check_outs(input, out)
    check_edges(input, bins)
    _check_weight(input, weight)
    _check_count(bins.size - 1)
    return _histogram(input, bins.copy(), weight, density, out)


def _histogram(input: Array, edges: Array, weight: Array | None, density: bool, out: Pair | None) -> Pair:
    _check_counted("histogram_cpu", input, True)
    wide = [each if each is None or each.itemsize > 2 else widen(each) for each in (input, edges, weight)]
    counts = cast(quiet(_counts, *wide, density), input.dtype)
    count_out, edge_out = out or (None, None)
    return store(counts, counts.dtype, count_out), store(edges, edges.dtype, edge_out)


def _counts(input: Array, edges: Array, weight: Array | None, density: bool) -> Array:
    """The last interval has its upper edge, too; elements outside of all, and nan, don't count."""
    values = input.reshape(-1)
    inside = (values >= edges[0]) & (values <= edges[-1])
    bins = edges.size - 1
    places = np.minimum(edges.searchsorted(values[inside], "right") - 1, bins - 1)
    weights = None if weight is None else weight.reshape(-1)[inside]
    counts = np.bincount(places, weights, bins).astype(input.dtype)
    return counts / counts.sum() / np.diff(edges) if density else counts


def _outer_edges(input: Array, range: Sequence[float] | None) -> tuple[float, float]:
    if range is not None:
        low, high = _given_range(range)
    elif input.size:
        _check_counted("histogramdd", input, input.itemsize > 2)
        low, high = float(smallest(input)), float(largest(input))
    else:
        low, high = 0.0, 1.0
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension 0"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _given_range(range: Sequence[float]) -> tuple[float, float]:
    if len(range) != 2:
        raise RuntimeError(
            f"torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got {len(range)}"
        )
    low, high = range
    return low, high


# -------------------- unsupported --------------------


def _check_counted(name: str, input: Array, has_dtype: bool) -> None:
    if input.dtype.kind not in "fV" or not has_dtype:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(input.dtype)}'")


def _check_count(bins: int) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")


def check_edges(input: Array, bins: Array, dim: int = 0) -> None:
    if bins.dtype != input.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{c_name(input)} and bins for dimension {dim} with dtype {c_name(bins)}"
        )
    if bins.ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {bins.ndim} dimensions in the bins "
            f"tensor for dimension {dim}"
        )
    if not bins.size:
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
            f"dimension {dim}"
        )


def _check_weight(input: Array, weight: Array | None) -> None:
    if weight is None:
        return
    if weight.dtype != input.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({c_name(input)}), and weight({c_name(weight)})"
        )
    if weight.size != input.size:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape [{input.size}, 1] and weight with shape "
            f"[{weight.size}]"
        )


def _check_outs(input: Array, out: Pair | None) -> None:
    for name, tensor in zip(("hist", "bin_edges"), out or ()):
        if tensor.dtype != input.dtype:
            _refuse_out(name, input, tensor)


def _refuse_out(name: str, input: Array, out: Any) -> None:
    raise RuntimeError(
        f"torch.histogram: input tensor and {name} tensor should have the same dtype, but got input "
        f"{c_name(input)} and {name} {c_name(out)}"
    )
