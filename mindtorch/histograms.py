"""`histogramdd`: counts points in the cells of a grid of any number of dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments import checked_tensor
from mindtorch.dtype import c_name
from mindtorch.named_result import NamedResult
from mindtorch.tensor import Tensor

_NAME = "torch.histogramdd"


class histogramdd_result(NamedResult):
    """The counts, and the edges of the cells in each dimension."""

    __slots__ = ()
    hist: Tensor
    bin_edges: tuple[Tensor, ...]


histogramdd_result.__name__ = "histogramdd"
histogramdd_result._shown_name = "torch.return_types.histogramdd"


def histogramdd(
    input: Tensor,
    bins: int | Sequence[Any],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> histogramdd_result:
    """How many points of the innermost dimension lie in each cell. `bins`: how many cells there are, or their edges."""
    input = checked_tensor(input, "histogramdd")
    if input.ndim < 2:
        raise RuntimeError(f"{_NAME}: input tensor should have at least 2 dimensions")
    dims = input.shape[-1]
    counts = [bins] * dims if isinstance(bins, int) else list(bins)
    if counts and isinstance(counts[0], Tensor):
        _check_edges(input, counts)
        edges = counts
    else:
        edges = _edges(input, counts, range)
    _check_counts([edge.numel() - 1 for edge in edges])
    _check_weight(input, weight)
    hist = ops._histogramdd_from_bin_tensors(input, edges, weight=weight, density=density)
    return histogramdd_result((hist, tuple(edges)))


def _edges(input: Tensor, counts: Sequence[int], range: Sequence[float] | None) -> list[Tensor]:
    """Cells of equal width between the given limits, or the smallest and the largest coordinate."""
    dims = input.shape[-1]
    if len(counts) != dims:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    _check_counts(counts)
    limits = _limits(input, range)
    return [
        ops.linspace(low, high, count + 1, dtype=input.dtype, device=input.device)
        for count, (low, high) in zip(counts, limits)
    ]


def _limits(input: Tensor, range: Sequence[float] | None) -> list[tuple[float, float]]:
    dims = input.shape[-1]
    if range is not None:
        if len(range) != 2 * dims:
            raise RuntimeError(
                f"{_NAME}: for a {dims}-dimensional histogram range should have {2 * dims} elements, but got "
                f"{len(range)}"
            )
        pairs = list(zip(range[::2], range[1::2]))
    elif input.numel():
        if not input.is_floating_point() or input.element_size() < 4:
            raise NotImplementedError(f"\"histogramdd\" not implemented for '{input.dtype.storage_name}'")
        points = input.detach().reshape(-1, dims)
        pairs = list(zip(points.amin(0).tolist(), points.amax(0).tolist()))
    else:
        pairs = [(0.0, 1.0)] * dims
    return [_checked_limits(dim, low, high) for dim, (low, high) in enumerate(pairs)]


def _checked_limits(dim: int, low: float, high: float) -> tuple[float, float]:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{_NAME}: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"{_NAME}: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


# -------------------- refusals --------------------


def _check_counts(counts: Sequence[int]) -> None:
    for dim, count in enumerate(counts):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}")


def _check_edges(input: Tensor, edges: Sequence[Tensor]) -> None:
    dims = input.shape[-1]
    if len(edges) != dims:
        raise RuntimeError(
            f"{_NAME}: expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got {len(edges)}"
        )
    for dim, edge in enumerate(edges):
        if edge.dtype is not input.dtype:
            raise RuntimeError(
                f"{_NAME}: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{c_name(input.dtype)} and bins for dimension {dim} with dtype {c_name(edge.dtype)}"
            )
        if edge.ndim != 1:
            raise RuntimeError(
                f"{_NAME}: bins tensor should have one dimension, but got {edge.ndim} dimensions in the bins tensor "
                f"for dimension {dim}"
            )
        if not edge.numel():
            raise RuntimeError(
                f"{_NAME}: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
                f"dimension {dim}"
            )


def _check_weight(input: Tensor, weight: Tensor | None) -> None:
    if weight is None:
        return
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            f"{_NAME}: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but "
            f"got input({c_name(input.dtype)}), and weight({c_name(weight.dtype)})"
        )
    if weight.shape != input.shape[:-1]:
        raise RuntimeError(
            f"{_NAME}: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input with shape {list(input.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )
