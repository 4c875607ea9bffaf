"""Fractional max pooling as functions; `functional` exports them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn.pooling import OnePool, PoolWithIndices


def _per_dimension(value: Any, dims: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


def _fractional_max_pool(name: str, pool: Callable[..., Any], dims: int) -> tuple[OnePool, PoolWithIndices]:
    """The function of torch's name, and the one that always gives indices."""

    def fractional_max_pool_with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """The largest element of windows at random distances, and where it is."""
        if output_size is None:
            output_size = _scaled_size(name, input, output_ratio, dims)
        if _random_samples is None:
            batch = 1 if input.dim() == dims + 1 else input.size(0)
            channels = input.size(-dims - 1)
            _random_samples = ops.rand((batch, channels, dims), dtype=input.dtype, device=input.device)
        return pool(input, _per_dimension(kernel_size, dims), _per_dimension(output_size, dims), _random_samples)

    def fractional_max_pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        """The largest element of windows at random distances; with `return_indices`, also where it is."""
        result = fractional_max_pool_with_indices(
            input, kernel_size, output_size, output_ratio, _random_samples=_random_samples
        )
        return result if return_indices else result[0]

    functions = {name: fractional_max_pool, f"{name}_with_indices": fractional_max_pool_with_indices}
    for own_name, function in functions.items():
        function.__name__ = function.__qualname__ = own_name
    return fractional_max_pool, fractional_max_pool_with_indices


def _scaled_size(name: str, input: Tensor, output_ratio: Any, dims: int) -> list[int]:
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = _per_dimension(output_ratio, dims)
    return [int(input.size(place - dims) * ratio) for place, ratio in enumerate(ratios)]


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_max_pool(
    "fractional_max_pool2d", ops.fractional_max_pool2d, 2
)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_max_pool(
    "fractional_max_pool3d", ops.fractional_max_pool3d, 3
)
