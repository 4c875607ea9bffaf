"""How layers are spread: matrices by columns or by rows, and what is computed for each place of a sequence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.distributed.device_mesh import DeviceMesh, active_mesh
from mindtorch.distributed.tensor.dtensor import DTensor, distribute_tensor
from mindtorch.distributed.tensor.modules import distribute_module
from mindtorch.distributed.tensor.placement_types import Placement, Replicate, Shard
from mindtorch.nn.modules.embedding import Embedding
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


class ParallelStyle(ABC):
    """How a module is spread."""

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module: ...


class _LayerStyle(ParallelStyle):
    """What both have in common: where the matrix and the bias are cut, and how inputs and outputs are spread."""

    _linear: Mapping[str, Placement]
    _embedding: Placement

    def __init__(self, inputs: Placement, wanted: Placement, outputs: Placement, use_local_output: bool) -> None:
        self.input_layouts: tuple[Placement] = (inputs,)
        self.desired_input_layouts: tuple[Placement] = (wanted,)
        self.output_layouts = (outputs,)
        self.use_local_output = use_local_output

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        if not isinstance(module, (Linear, Embedding)):
            raise NotImplementedError(f"{type(self).__name__} currently only support nn.Linear and nn.Embedding!")
        return distribute_module(module, device_mesh, self._partition, self._prepare_input, self._prepare_output)

    def _partition(self, name: str, module: Module, mesh: DeviceMesh) -> None:
        for key, each in module.named_parameters(recurse=False):
            where = self._linear[key] if isinstance(module, Linear) else self._embedding
            spread = distribute_tensor(each.detach(), mesh, [where], src_data_rank=self.src_data_rank)
            module.register_parameter(key, Parameter(spread, each.requires_grad))

    def _prepare_input(self, module: Module, inputs: Any, mesh: DeviceMesh) -> Any:
        first, *others = inputs
        if not isinstance(first, DTensor):
            first = DTensor.from_local(first, mesh, self.input_layouts)
        return first.redistribute(placements=self._wanted_by(module)), *others

    def _wanted_by(self, module: Module) -> tuple[Placement]:
        return self.desired_input_layouts

    def _prepare_output(self, module: Module, outputs: DTensor, mesh: DeviceMesh) -> Any:
        result = outputs.redistribute(placements=self.output_layouts)
        return result.to_local() if self.use_local_output else result


class ColwiseParallel(_LayerStyle):
    """Each process computes some of the outputs: of a linear layer by its rows of the matrix and its part of the bias,
    of an embedding by its part of each vector.
    """

    _linear = {"weight": Shard(0), "bias": Shard(0)}
    _embedding = Shard(1)

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(input_layouts or Replicate(), Replicate(), output_layouts or Shard(-1), use_local_output)


class RowwiseParallel(_LayerStyle):
    """Each process computes with some of the inputs: the matrix of a linear layer is cut along its second dimension;
    of an embedding each process has the vectors of some indices.
    """

    _linear = {"weight": Shard(1), "bias": Replicate()}
    _embedding = Shard(0)

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(input_layouts or Shard(-1), Shard(-1), output_layouts or Replicate(), use_local_output)

    def _wanted_by(self, module: Module) -> tuple[Placement]:
        return (Replicate(),) if isinstance(module, Embedding) else self.desired_input_layouts


class SequenceParallel(ParallelStyle):
    """Each process computes for some places of a sequence; the parameters are whole, and those of each process its own.

    A plain tensor that comes in is the part of its process. The gradients of parameters are sums over the processes.
    """

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def __repr__(self) -> str:
        dim, local = self.sequence_sharding[0].dim, self.use_local_output
        return f"{type(self).__name__}(sequence_dim={dim}, use_local_output={local})"

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        return distribute_module(module, device_mesh, self._partition, self._prepare_input, self._prepare_output)

    def _partition(self, name: str, module: Module, mesh: DeviceMesh) -> None:
        for key, each in module.named_parameters(recurse=False):
            spread = DTensor.from_local(each.detach(), mesh, [Replicate()], run_check=False)
            module.register_parameter(key, Parameter(spread, each.requires_grad))

    def _prepare_input(self, module: Module, inputs: Any, mesh: DeviceMesh) -> Any:
        first, *others = inputs
        if isinstance(first, DTensor):
            return first.redistribute(placements=self.sequence_sharding), *others
        if not isinstance(first, Tensor):
            raise ValueError(f"expecting input of {module} to be a torch.Tensor or DTensor, but got {first}")
        return DTensor.from_local(first, mesh, self.sequence_sharding, run_check=False), *others

    def _prepare_output(self, module: Module, outputs: DTensor, mesh: DeviceMesh) -> Any:
        return outputs.to_local() if self.use_local_output else outputs


def parallelize_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | Mapping[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Spread a module in a style, or its submodules each in that of its name, which may have `*` in it."""
    mesh = device_mesh or active_mesh()
    if mesh.ndim != 1:
        raise ValueError(f"Tensor Parallel only accepts a 1D DeviceMesh, but found {mesh.ndim}D!")
    if parallelize_plan is None:
        warn("No parallelize_plan is provided and auto-parallel is not supported at the moment, so this is a no-op.")
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    for path, style in parallelize_plan.items():
        found = list(_matching(module, path))
        if not found:
            warn(f"Parallelize plan key '{path}' could not be resolved: no submodule matching it.")
        for each in found:
            parallelize_module(each, mesh, style, src_data_rank=src_data_rank)
    return module


def _matching(module: Module, path: str) -> Iterator[Module]:
    wanted = path.split(".")
    for name, each in module.named_modules():
        parts = name.split(".")
        if len(parts) == len(wanted) and all(fnmatch(*pair) for pair in zip(parts, wanted, strict=True)):
            yield each
