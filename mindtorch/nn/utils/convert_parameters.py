"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters one behind the other in one vector."""
    return ops.cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make pieces of a vector the data of the parameters."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end
