"""Fractional max pooling layers."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules.module import Module


def _per_dimension(value: Any, dims: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


class _FractionalMaxPool(Module):
    """What the layers share: either the size of the output is given or its ratio to that of the input."""

    _dims: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = _per_dimension(kernel_size, self._dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _per_dimension(output_size, self._dims)
        self.output_ratio = None if output_ratio is None else _per_dimension(output_ratio, self._dims)
        self._check_output(output_ratio)

    def _check_output(self, given_ratio: Any) -> None:
        if self.output_size is None and self.output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if self.output_size is not None and self.output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {given_ratio})")

    def _pooled(self, pool: Any, input: Tensor) -> Any:
        options = self.kernel_size, self.output_size, self.output_ratio, self.return_indices
        return pool(input, *options, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest element of windows of an image, at random distances."""

    _dims = 2

    def forward(self, input: Tensor) -> Any:
        return self._pooled(F.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest element of windows of a volume, at random distances."""

    _dims = 3

    def __init__(self, kernel_size: Any, *options: Any, **named: Any) -> None:
        if not all(size > 0 for size in _per_dimension(kernel_size, self._dims)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        super().__init__(kernel_size, *options, **named)

    def forward(self, input: Tensor) -> Any:
        return self._pooled(F.fractional_max_pool3d, input)
