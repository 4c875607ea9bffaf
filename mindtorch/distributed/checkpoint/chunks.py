"""The parts of tensors that this process has."""

from __future__ import annotations

from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch.distributed.tensor import DTensor


def size_of(tensor: Tensor) -> Size:
    """The size of the whole tensor."""
    return Size(tensor.shape)


def chunks_of(tensor: Tensor) -> list[tuple[Size, Tensor]]:
    """The parts of a tensor that are here, and where in it they begin: plain tensors are here as a whole."""
    if not isinstance(tensor, DTensor):
        return [(Size([0] * tensor.dim()), tensor.detach())]
    offsets, local = tensor.own_part()
    return [(Size(offsets), local.detach())] if local.numel() or not tensor.numel() else []
