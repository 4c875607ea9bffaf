"""`histogramdd`: counts points in the cells of a grid of any number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch._core.dtype import c_name
from mindtorch._core.named_result import NamedResult
from mindtorch._core.tensor import Tensor
from mindtorch.composite.reduction.point_histograms import NAME, check_counts, check_weight
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.conversions import checked_tensor


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
        raise RuntimeError(f"{NAME}: input tensor should have at least 2 dimensions")
    dims = input.shape[-1]
    counts: list[Any] = [bins] * dims if isinstance(bins, int) else list(bins)
    options: dict[str, Any] = {"weight": weight, "density": density}
    if counts and isinstance(counts[0], Tensor):
        _check_edges(input, counts)
        check_counts([edge.numel() - 1 for edge in counts])
        check_weight(input, weight)
        return histogramdd_result((ops._histogramdd_from_bin_tensors(input, counts, **options), tuple(counts)))
    edges = ops._histogramdd_bin_edges(input, counts, range=range, **options)
    hist = ops._histogramdd_from_bin_cts(input, counts, range=range, **options)
    return histogramdd_result((hist, tuple(edges)))


# -------------------- refusals --------------------


def _check_edges(input: Tensor, edges: Sequence[Tensor]) -> None:
    dims = input.shape[-1]
    if len(edges) != dims:
        raise RuntimeError(
            f"{NAME}: expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got {len(edges)}"
        )
    for dim, edge in enumerate(edges):
        if edge.dtype is not input.dtype:
            raise RuntimeError(
                f"{NAME}: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{c_name(input.dtype)} and bins for dimension {dim} with dtype {c_name(edge.dtype)}"
            )
        if edge.ndim != 1:
            raise RuntimeError(
                f"{NAME}: bins tensor should have one dimension, but got {edge.ndim} dimensions in the bins tensor "
                f"for dimension {dim}"
            )
        if not edge.numel():
            raise RuntimeError(
                f"{NAME}: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
                f"dimension {dim}"
            )
