"""Shape rules of bags of embeddings, sampled grids and distances of pairs."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core.promotion import DOUBLE
from mindtorch.backends.grid_checks import check_grid
from mindtorch.backends.meta.results import Kernel, differs_from_cpu, new

_SUM, _MAX = 0, 2


def embedding_bag(promotion: str) -> Kernel:
    """The bags, the bag of each index, the sizes of bags, and the indices of maxima."""
    return _bags(forward_only=False)


def embedding_bag_forward_only(promotion: str) -> Kernel:
    return _bags(forward_only=True)


def _bags(forward_only: bool) -> Kernel:
    """Sums leave out what they don't need, as the CPU's do."""

    @differs_from_cpu
    def kernel(
        weight: Any,
        indices: Any,
        offsets: Any,
        scale_grad_by_freq: bool = False,
        mode: int = 0,
        sparse: bool = False,
        per_sample_weights: Any = None,
        include_last_offset: bool = False,
        padding_idx: int = -1,
    ) -> Any:
        bags = offsets.shape[0] - include_last_offset
        sizes = (offsets.shape[0] if forward_only and mode == _SUM else bags,)
        is_fast = mode == _SUM and weight.dtype != DOUBLE and padding_idx < 0
        found = (bags, weight.shape[1]) if mode == _MAX else sizes
        integers = [new(shape, indices.dtype) for shape in ((0,) if is_fast else indices.shape, sizes, found)]
        return (new((bags, weight.shape[1]), weight.dtype), *integers)

    return kernel


def embedding_bag_backward(promotion: str) -> Kernel:
    def kernel(grad: Any, indices: Any, *options: Any) -> Any:
        rows = next(each for each in options if type(each) is int)
        return new((rows, grad.shape[1]), grad.dtype)

    return kernel


def embedding_bag_per_sample_weights_backward(promotion: str) -> Kernel:
    def kernel(grad: Any, weight: Any, indices: Any, *options: Any) -> Any:
        return new(indices.shape, grad.dtype)

    return kernel


def grid_sampler(promotion: str) -> Kernel:
    def kernel(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
        check_grid(input, grid, 4 if input.ndim == 4 else 5, interpolation_mode)
        return new((*input.shape[:2], *grid.shape[1:-1]), input.dtype)

    return kernel


def grid_sampler_backward(promotion: str) -> Kernel:
    def kernel(
        grad_output: Any,
        input: Any,
        grid: Any,
        interpolation_mode: int,
        padding_mode: int,
        align_corners: bool,
        output_mask: Sequence[bool],
    ) -> Any:
        return tuple(
            [new(each.shape, each.dtype) if wanted else None for wanted, each in zip(output_mask, (input, grid))]
        )

    return kernel
