"""What `histogramdd` is made of where it is given how many cells there are, not their edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch._core.dtype import c_name
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

NAME = "torch.histogramdd"


def histogramdd_bin_edges(
    input: Tensor, bins: tuple[int, ...], range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Sequence[Tensor]:
    return _edges(input, bins, range)


def histogramdd_from_bin_cts(
    input: Tensor, bins: tuple[int, ...], range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Tensor:
    edges = _edges(input, bins, range)
    check_weight(input, weight)
    return ops._histogramdd_from_bin_tensors(input, edges, weight=weight, density=density)


def _edges(input: Tensor, counts: Sequence[int], range: Sequence[float] | None) -> list[Tensor]:
    """Cells of equal width between the given limits, or the smallest and the largest coordinate."""
    dims = input.shape[-1]
    if len(counts) != dims:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    check_counts(counts)
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
                f"{NAME}: for a {dims}-dimensional histogram range should have {2 * dims} elements, but got "
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
        raise RuntimeError(f"{NAME}: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"{NAME}: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


# -------------------- refusals --------------------


def check_counts(counts: Sequence[int]) -> None:
    for dim, count in enumerate(counts):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}")


def check_weight(input: Tensor, weight: Tensor | None) -> None:
    if weight is None:
        return
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            f"{NAME}: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but "
            f"got input({c_name(input.dtype)}), and weight({c_name(weight.dtype)})"
        )
    if weight.shape != input.shape[:-1]:
        raise RuntimeError(
            f"{NAME}: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input with shape {list(input.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )
