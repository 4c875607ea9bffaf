"""Limits on gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors together, as if they were one vector."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return ops.zeros(())
    norms = [ops.linalg_vector_norm(tensor, norm_type) for tensor in tensors]
    total = ops.linalg_vector_norm(ops.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients so that their norm, which is given, becomes at most max_norm."""
    # A factor of 1 multiplies, too: asking whether it is 1 would cost more on an accelerator.
    factor = ops.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for grad in _gradients(parameters):
        grad.mul_(factor)


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients so that the norm of all of them together becomes at most max_norm; returns the norm."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limit each element of the gradients to the range from -clip_value to clip_value."""
    for grad in _gradients(parameters):
        grad.clamp_(min=-float(clip_value), max=float(clip_value))


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)
