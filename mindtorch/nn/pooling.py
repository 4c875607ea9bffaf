"""Pooling, unpooling and sliding blocks as functions; `functional` exports them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

OnePool: TypeAlias = Callable[..., Tensor]
PoolWithIndices: TypeAlias = Callable[..., tuple[Tensor, Tensor]]

avg_pool1d = ops.avg_pool1d
avg_pool2d = ops.avg_pool2d
avg_pool3d = ops.avg_pool3d
adaptive_avg_pool1d = ops.adaptive_avg_pool1d


def _per_dimension(value: Any, dims: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


# -------------------- maximum --------------------


def _max_pool(name: str, with_indices: Callable, alone: Callable) -> tuple[OnePool, PoolWithIndices]:
    """The function of torch's name, and the one that always gives indices."""

    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The largest element of each window; with `return_indices`, also where it is."""
        pool = with_indices if return_indices else alone
        return pool(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)

    def max_pool_with_indices(input: Tensor, kernel_size: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The largest element of each window and where it is."""
        return max_pool(input, kernel_size, *args, **{**kwargs, "return_indices": True})

    return _named(max_pool, name), _named(max_pool_with_indices, f"{name}_with_indices")


def _named(function: Callable, name: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    return function


max_pool1d, max_pool1d_with_indices = _max_pool("max_pool1d", ops.max_pool1d_with_indices, ops.max_pool1d)
max_pool2d, max_pool2d_with_indices = _max_pool("max_pool2d", ops.max_pool2d_with_indices, ops.max_pool2d)
max_pool3d, max_pool3d_with_indices = _max_pool("max_pool3d", ops.max_pool3d_with_indices, ops.max_pool3d)


# -------------------- adaptive --------------------


def _full_size(input: Tensor, output_size: Any, dims: int) -> Any:
    """The wanted size with a number for every dimension; None keeps the input's size."""
    if isinstance(output_size, int):
        return (output_size,) * dims
    if input.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    sizes = input.shape[-len(output_size) :]
    return tuple(own if given is None else given for given, own in zip(output_size, sizes))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size cells; None keeps the input's size."""
    return ops.adaptive_avg_pool2d(input, _full_size(input, output_size, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size cells; None keeps the input's size."""
    return ops.adaptive_avg_pool3d(input, _full_size(input, output_size, 3))


def _adaptive_max_pool(name: str, pool: Callable, dims: int) -> tuple[OnePool, PoolWithIndices]:
    def adaptive_max_pool_with_indices(
        input: Tensor, output_size: Any, return_indices: bool = False
    ) -> tuple[Tensor, Tensor]:
        """The largest element of each of output_size cells and where it is."""
        return pool(input, _full_size(input, output_size, dims))

    def adaptive_max_pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        """The largest element of each of output_size cells; with `return_indices`, also where it is."""
        result = adaptive_max_pool_with_indices(input, output_size)
        return result if return_indices else result[0]

    return _named(adaptive_max_pool, name), _named(adaptive_max_pool_with_indices, f"{name}_with_indices")


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(
    "adaptive_max_pool1d", ops.adaptive_max_pool1d, 1
)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(
    "adaptive_max_pool2d", ops.adaptive_max_pool2d, 2
)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(
    "adaptive_max_pool3d", ops.adaptive_max_pool3d, 3
)


# -------------------- powers --------------------


def _lp_pool(name: str, average: Callable, maximum: Callable, dims: int) -> OnePool:
    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Tensor:
        """The p-norm of each window."""
        if norm_type in (math.inf, -math.inf):
            sign = 1 if norm_type > 0 else -1
            return sign * maximum(sign * input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        mean = average(input.pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
        count = math.prod(_per_dimension(kernel_size, dims))
        return (mean.sign() * ops.relu(mean.abs())).mul(count).pow(1.0 / norm_type)

    return _named(lp_pool, name)


lp_pool1d = _lp_pool("lp_pool1d", avg_pool1d, max_pool1d, 1)
lp_pool2d = _lp_pool("lp_pool2d", avg_pool2d, max_pool2d, 2)
lp_pool3d = _lp_pool("lp_pool3d", avg_pool3d, max_pool3d, 3)


# -------------------- the way back --------------------


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the elements of input where their maxima were."""
    size, _, _ = _unpooled(input, kernel_size, stride, padding, output_size, 1)
    return ops.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)).squeeze(-1)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the elements of input where their maxima were."""
    return ops.max_unpool2d(input, indices, _unpooled(input, kernel_size, stride, padding, output_size, 2)[0])


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the elements of input where their maxima were."""
    return ops.max_unpool3d(input, indices, *_unpooled(input, kernel_size, stride, padding, output_size, 3))


def _unpooled(
    input: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any, dims: int
) -> tuple[Sequence[int], tuple[int, ...], tuple[int, ...]]:
    """The size of the result, the stride and the padding. Inputs of several sizes could have been pooled."""
    kernel, pads = _per_dimension(kernel_size, dims), _per_dimension(padding, dims)
    steps = kernel if stride is None else _per_dimension(stride, dims)
    usual = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(input.shape[-dims:], steps, kernel, pads)]
    size = usual if output_size is None else _checked_size(output_size, usual, steps)
    for dim, extent in enumerate(size):
        if extent < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial "
                f"dimensions, but got output_size[{dim}]={extent}"
            )
    return size, steps, pads


def _checked_size(output_size: Any, usual: Sequence[int], steps: Sequence[int]) -> Sequence[int]:
    dims = len(usual)
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            "output_size should be a sequence containing "
            f"{dims} or {dims + 2} elements, but it has a length of '{len(output_size)}'"
        )
    for dim, (size, middle, step) in enumerate(zip(output_size, usual, steps)):
        if not middle - step < size < middle + step:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {dim} must be between {middle - step} and {middle + step})'
            )
    return output_size


# -------------------- sliding blocks --------------------


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The sliding blocks of images, as columns."""
    return ops.im2col(input, *(_per_dimension(each, 2) for each in (kernel_size, dilation, padding, stride)))


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The images that columns of sliding blocks add up to."""
    sizes = (output_size, kernel_size, dilation, padding, stride)
    return ops.col2im(input, *(_per_dimension(each, 2) for each in sizes))
