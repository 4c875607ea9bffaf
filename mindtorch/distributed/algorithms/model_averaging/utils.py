"""The mean of parameters over all processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributed.collectives import all_reduce
from mindtorch.distributed.world import group_or_default


@no_grad()
def average_parameters(params: Iterator[Tensor], process_group: Any) -> None:
    """Make parameters the means of those of all processes."""
    group = group_or_default(process_group)
    for _, found in groupby(params, lambda each: each.dtype):
        members = list(found)
        flat = ops.cat([each.detach().reshape(-1) for each in members]) / group.size()
        all_reduce(flat, group=group)
        for each, part in zip(members, flat.split([each.numel() for each in members]), strict=True):
            each.detach().copy_(part.view(each.shape))


def get_params_to_average(params: Iterable[Any]) -> list[Tensor]:
    """Of parameters or groups of an optimizer those that have gradients."""
    found = []
    for each in params:
        if isinstance(each, Tensor):
            members = [each]
        elif isinstance(each, dict):
            members = each["params"]
        else:
            raise NotImplementedError(
                f"Parameter input of type {type(each)} is not supported by model averaging: parameters, or groups"
            )
        found += [member for member in members if member.grad is not None]
    return found


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """The same for the parameters of a model, or the groups of an optimizer."""
    average_parameters(iter(get_params_to_average(params)), process_group)


__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]
