"""The kernel of `histogramdd`: how many points lie in each cell of a grid."""

from collections.abc import Sequence

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.cpu.reduction.histograms import check_edges

Array = np.ndarray


def _check_points(input: Array, bins: Sequence[Array]) -> None:
    if input.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if len(bins) != input.shape[-1]:
        raise RuntimeError(
            f"torch.histogramdd: expected {input.shape[-1]} sequences of bin edges for a {input.shape[-1]}-dimensional "
            f"histogram but got {len(bins)}"
        )
    for dim, edges in enumerate(bins):
        check_edges(input, edges, dim)


def histogram_of_points(
    input: Array, bins: Sequence[Array], weight: Array | None = None, density: bool = False
) -> Array:
    """The last cell of each dimension has its upper edge, too; points outside, or with a nan, don't count."""
    _check_points(input, bins)
    if input.dtype.kind != "f" or input.itemsize < 4:
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{scalar_name(input)}'")
    points = input.reshape(-1, len(bins))
    cells, inside = [], np.ones(len(points), bool)
    for values, edges in zip(points.T, bins):
        inside &= (values >= edges[0]) & (values <= edges[-1])
        cells.append((edges.searchsorted(values, "right") - 1).clip(0, edges.size - 2))
    shape = tuple(edges.size - 1 for edges in bins)
    flat = np.ravel_multi_index(tuple(each[inside] for each in cells), shape)
    weights = None if weight is None else weight.reshape(-1)[inside]
    counts = np.bincount(flat, weights, int(np.prod(shape))).astype(input.dtype).reshape(shape)
    return quiet(_density, counts, bins) if density else counts


def _density(counts: Array, bins: Sequence[Array]) -> Array:
    density = counts / counts.sum()
    for axis, edges in enumerate(bins):
        widths = np.diff(edges)
        density /= widths.reshape([-1 if each == axis else 1 for each in range(counts.ndim)])
    return density
