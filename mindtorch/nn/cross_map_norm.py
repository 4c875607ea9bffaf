"""The computation of `CrossMapLRN2d`.

Programs that have trained with it count on its numbers, and these are PyTorch's: the square of the first channel is
never left out of the sum again, and the gradient looks at the channels before, not at those around.
"""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.function import Function
from mindtorch.dispatch import ops


class CrossMapLRN2d(Function):
    """Divides each pixel by a power of the squares over neighbouring channels."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, size: int, alpha: float, beta: float, k: float) -> Tensor:
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        reach = (size - 1) // 2
        squares = input * input
        sums = _windows(ops.pad(squares, (0, 0, 0, 0, reach, reach)), 2 * reach + 1)
        sums[:, reach + 1 :] += squares[:, :1]
        scale = sums * (alpha / size) + k
        output = input * scale**-beta
        ctx.save_for_backward(input, output, scale)
        ctx.numbers = size, alpha, beta
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple:
        input, output, scale = ctx.saved_tensors
        size, alpha, beta = ctx.numbers
        before = int(size - (size - 1) / 2)
        ratio = ops.pad(grad_output * output / scale, (0, 0, 0, 0, before, size - 1 - before))
        grad = grad_output * scale**-beta - 2 * alpha * beta / size * input * _windows(ratio, size)
        return grad, None, None, None, None


def _windows(tensor: Tensor, width: int) -> Tensor:
    """The sums over so many channels, from each one on."""
    return tensor.unfold(1, width, 1).sum(-1)
