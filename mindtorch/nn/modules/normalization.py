"""Layer normalization."""

from __future__ import annotations

from typing import Any

from mindtorch.dispatch import ops
from mindtorch.nn import init
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch.tensor import Tensor


class LayerNorm(Module):
    """Normalizes over the last dimensions."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, present in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            empty = ops.empty(self.normalized_shape, device=device, dtype=dtype) if present else None
            self.register_parameter(name, None if empty is None else Parameter(empty))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        parameters = self._parameters
        return ops.layer_norm(input, self.normalized_shape, parameters["weight"], parameters["bias"], self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )
