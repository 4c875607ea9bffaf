"""Modules whose parameters are DTensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.distributed.device_mesh import DeviceMesh, active_mesh
from mindtorch.distributed.tensor.dtensor import DTensor, distribute_tensor
from mindtorch.distributed.tensor.placement_types import Replicate
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


def distribute_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, Module, DeviceMesh], None] | None = None,
    input_fn: Callable[[Module, Any, DeviceMesh], Any] | None = None,
    output_fn: Callable[[Module, Any, DeviceMesh], Any] | None = None,
) -> Module:
    """Make the parameters of a module DTensors: as `partition_fn(name, submodule, mesh)` does, and the others whole.

    `input_fn(module, inputs, mesh)` and `output_fn(module, outputs, mesh)` change what goes in and comes out.
    """
    mesh = device_mesh or active_mesh()
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        _replicate_rest(part, mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda module, inputs: input_fn(module, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda module, inputs, outputs: output_fn(module, outputs, mesh))
    return module


def _replicate_rest(module: Module, mesh: DeviceMesh) -> None:
    whole = [Replicate()] * mesh.ndim
    for name, parameter in module.named_parameters(recurse=False):
        if not isinstance(parameter, DTensor):
            spread = distribute_tensor(parameter.detach(), mesh, whole)
            module.register_parameter(name, Parameter(spread, parameter.requires_grad))
    for name, buffer in module.named_buffers(recurse=False):
        if not isinstance(buffer, DTensor):
            setattr(module, name, distribute_tensor(buffer, mesh, whole))
