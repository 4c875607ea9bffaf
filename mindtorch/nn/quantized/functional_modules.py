"""Sums, products and `cat` as methods of a module, which would watch their results to quantize them later."""

from collections.abc import Sequence

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn.modules.linear import Identity
from mindtorch.nn.modules.module import Module


class FloatFunctional(Module):
    """Ops whose results all go through one submodule."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        return self.activation_post_process(x + y)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        return x + y

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        return self.activation_post_process(x * y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        return x * y

    def cat(self, x: Sequence[Tensor], dim: int = 0) -> Tensor:
        return self.activation_post_process(ops.cat(x, dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        return self.activation_post_process((x + y).relu())

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        return self.activation_post_process(x @ y)
