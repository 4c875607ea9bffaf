"""The parameters of a module that are gathered together, and whose gradients are reduced together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.function import Function, once_differentiable
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributed.collectives import all_gather_single, all_reduce, reduce_scatter_single
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.fsdp.policies import MixedPrecisionPolicy
from mindtorch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from mindtorch.distributed.tensor.placement_types import Placement, _StridedShard
from mindtorch.distributed.tensor.spreading import moved
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

Places = list[tuple[Module, str]]  # the modules that have a parameter, and how they call it


class ParameterGroup:
    """Parameters that are spread along their first dimension, and whole between `unshard` and `reshard`."""

    def __init__(self, places: dict[Tensor, Places], mesh: DeviceMesh, policy: MixedPrecisionPolicy) -> None:
        self.mesh = mesh
        self.policy = policy
        self.shards = mesh.shape[-1]
        self.group = mesh.get_group(mesh.ndim - 1)
        self.divisor: float = mesh.size()  # of the sums of gradients
        self.syncs = self.all_reduces = self.reshards_after_backward = True
        self._places = list(places.values())
        placements = (*[Replicate()] * (mesh.ndim - 1), Shard(0))
        self._parallel = [_parallel_of(each) for each in places]
        self._shapes = [each.to_local().shape if isinstance(each, DTensor) else each.shape for each in places]
        self.spread = [_spread(each, mesh, placements) for each in places]
        self._put(self.spread)
        self._whole: list[Tensor] | None = None
        self._made_of: list[tuple[Tensor, int]] = []  # the parts that were gathered, and their versions
        self._by_memory: dict[int, int] = {}
        self._pending: list[Tensor | None] = [None] * len(self.spread)

    def _put(self, tensors: Sequence[Tensor]) -> None:
        for places, tensor in zip(self._places, tensors, strict=True):
            for module, name in places:
                module._parameters[name] = tensor  # type: ignore[assignment]

    # -------------------- whole and spread --------------------

    @no_grad()
    def unshard(self) -> list[Tensor]:
        """The whole parameters, or what tensor-parallel processes have of them.

        They are gathered if they are not here, or if the parts have changed since.
        """
        self._adopt()
        parts = [each._local_tensor for each in self.spread]
        if self._whole is None or not self._are_of(parts):
            self._whole = self._gathered()
            self._made_of = [(part, part._version) for part in parts]
            self._by_memory = {each.untyped_storage().data_ptr(): i for i, each in enumerate(self._whole)}
        return self._whole

    def _are_of(self, parts: Sequence[Tensor]) -> bool:
        """Whether the whole parameters are made of these parts as they are now."""
        made_of = zip(self._made_of, parts, strict=True)
        return all(part is now and version == now._version for (part, version), now in made_of)

    def _adopt(self) -> None:
        """Take spread parameters that have got into the modules since, as `load_state_dict(assign=True)` puts them."""
        for i, ((module, name), *_) in enumerate(self._places):
            own, found = self.spread[i], module._parameters[name]
            if found is own or not isinstance(found, DTensor):
                continue
            if (found.device_mesh, found.placements, found.shape) == (own.device_mesh, own.placements, own.shape):
                self.spread[i], self._whole = found, None

    def reshard(self) -> None:
        """Forget the whole parameters."""
        self._whole, self._by_memory = None, {}
        self._put(self.spread)

    def _gathered(self) -> list[Tensor]:
        whole: list[Any] = [None] * len(self.spread)
        for dtype, members in self._by_dtype(lambda each: self.policy.param_dtype or each.dtype).items():
            rows = ops.cat([self._rows(self.spread[i]._local_tensor.to(dtype), i) for i in members])
            output = ops.empty((self.shards, rows.numel()), dtype=dtype)
            all_gather_single(output, rows, group=self.group)
            for i, part in zip(members, output.split([self._length(i) for i in members], 1), strict=True):
                shape = self._shapes[i]
                whole[i] = part.reshape(-1)[: shape.numel()].clone().view(shape)
        return whole

    def _by_dtype(self, dtype_of: Any) -> dict[Dtype, list[int]]:
        found: dict[Dtype, list[int]] = {}
        for i, each in enumerate(self.spread):
            found.setdefault(dtype_of(each), []).append(i)
        return found

    def _length(self, i: int) -> int:
        """How many elements of a parameter each process has, those that are missing at the end included."""
        shape = self._shapes[i]
        return -(-shape[0] // self.shards) * (shape.numel() // max(shape[0], 1))

    def _rows(self, local: Tensor, i: int) -> Tensor:
        missing = self._length(i) - local.numel()
        flat = local.reshape(-1)
        return flat if not missing else ops.cat([flat, flat.new_zeros(missing)])

    def enter(self) -> None:
        """Give the modules whole parameters that gradients go through."""
        self._put(_Unshard.apply(self, *self.spread))

    def leave(self, forget: bool) -> None:
        """Give the modules the spread parameters back."""
        self._put(self.spread)
        if forget:
            self.reshard()

    # -------------------- saved tensors --------------------

    def place_in(self, tensor: Tensor) -> int | None:
        """Which whole parameter a tensor is, or is a view of."""
        if not self._by_memory:
            return None
        local = tensor._local_tensor if isinstance(tensor, DTensor) else tensor
        return self._by_memory.get(local.untyped_storage().data_ptr())

    # -------------------- gradients --------------------

    @no_grad()
    def reduced(self, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The means of the gradients, spread as the parameters are; None while gradients are only summed up here."""
        grads = [_added(kept, grad) for kept, grad in zip(self._pending, grads, strict=True)]
        if not self.syncs:
            self._pending = list(grads)
            return [None] * len(grads)
        self._pending = [None] * len(grads)
        results: list[Tensor | None] = [None] * len(grads)
        grads = [self._local_of(grad, i) for i, grad in enumerate(grads)]
        for dtype, members in self._by_dtype(self._reduced_in).items():
            output = self._reduce([grads[i] for i in members], members, dtype)
            used = output[-len(members) :].tolist()
            lengths = [self._length(i) for i in members]
            for i, part, count in zip(members, output[: -len(members)].split(lengths), used, strict=True):
                if count:
                    results[i] = self._of_parameter(part, i)
        return results

    def _reduced_in(self, parameter: Tensor) -> Dtype:
        return self.policy.reduce_dtype or self.policy.param_dtype or parameter.dtype

    def _reduce(self, grads: Sequence[Tensor | None], members: Sequence[int], dtype: Dtype) -> Tensor:
        """The sums of all processes for this one, and for each parameter whether one of them has used it."""
        parts = [self._all_rows(grad, i, dtype) for grad, i in zip(grads, members, strict=True)]
        flags = ops.stack([ops.full((self.shards,), float(grad is not None), dtype=dtype) for grad in grads], 1)
        rows = ops.cat([*parts, flags], 1)
        output = ops.empty(rows.shape[1], dtype=dtype)
        reduce_scatter_single(output, rows, group=self.group)
        if self.mesh.ndim > 1 and self.all_reduces:
            all_reduce(output, group=self.mesh.get_group(0))
        return output

    def _all_rows(self, grad: Tensor | None, i: int, dtype: Dtype) -> Tensor:
        flat = ops.zeros(self.shards * self._length(i), dtype=dtype)
        if grad is not None:
            flat[: grad.numel()] = grad.reshape(-1)
        return flat.view(self.shards, -1)

    def _of_parameter(self, part: Tensor, i: int) -> DTensor:
        parameter = self.spread[i]
        local = parameter._local_tensor
        mean = part[: local.numel()].view(local.shape).to(local.dtype) / self.divisor
        return DTensor(mean, parameter.device_mesh, parameter.placements, parameter.shape)

    # -------------------- parameters of tensor-parallel layers --------------------

    def in_module(self, whole: Tensor, i: int) -> Tensor:
        """A whole parameter as the module has it: a DTensor in a tensor-parallel layer."""
        parallel = self._parallel[i]
        return whole if parallel is None else DTensor(whole, parallel.mesh, parallel.placements, self.spread[i].shape)

    def _local_of(self, grad: Tensor | None, i: int) -> Tensor | None:
        """What this process has of a gradient, spread as the parameter in the module is."""
        parallel = self._parallel[i]
        if grad is None or parallel is None:
            return grad
        assert isinstance(grad, DTensor)
        return moved(grad._local_tensor, grad.shape, parallel.mesh, grad.placements, parallel.placements)


def _added(kept: Tensor | None, grad: Tensor | None) -> Tensor | None:
    if kept is None or grad is None:
        return kept if grad is None else grad
    return kept + grad


class _Parallel(NamedTuple):
    """How tensor-parallel processes have a parameter."""

    mesh: DeviceMesh
    placements: tuple[Placement, ...]


def _parallel_of(parameter: Tensor) -> _Parallel | None:
    return _Parallel(parameter.device_mesh, parameter.placements) if isinstance(parameter, DTensor) else None


def _spread(parameter: Tensor, mesh: DeviceMesh, placements: Any) -> Any:
    if parameter.ndim == 0:
        raise ValueError(
            "fully_shard doesn't support scalar parameters. Change them to 1D tensors with numel equal to 1."
        )
    if isinstance(parameter, DTensor):
        spread = _spread_further(parameter, mesh, placements)
    else:
        spread = distribute_tensor(parameter.detach(), mesh, placements, src_data_rank=None)
    return Parameter(spread, parameter.requires_grad)


def _spread_further(parameter: DTensor, mesh: DeviceMesh, placements: Sequence[Placement]) -> DTensor:
    """The parts of the part that this process has already, on a mesh of the dimensions of both."""
    parallel = parameter.device_mesh
    names = (*(mesh.mesh_dim_names or ()), *(parallel.mesh_dim_names or ()))
    root = mesh._get_root_mesh()
    if root is not parallel._get_root_mesh() or len(names) != mesh.ndim + parallel.ndim:
        raise ValueError(
            "FSDP requires the DP and TP mesh to have the same parent mesh but got: \n"
            f"DP's global mesh: {root}\nTP's global mesh: {parallel._get_root_mesh()}"
        )
    local = parameter.detach()._local_tensor  # type: ignore[attr-defined]
    everywhere = (Replicate(),) * mesh.ndim
    part = moved(local, local.shape, mesh, everywhere, tuple(placements)).clone()
    factor = 1
    for size, each in zip(parallel.shape, parameter.placements, strict=True):
        factor *= size if each.is_shard(0) else 1
    own = Shard(0) if factor == 1 else _StridedShard(0, split_factor=factor)
    return DTensor(part, root[names], (*placements[:-1], own, *parameter.placements), parameter.shape)


class _Unshard(Function):
    """From the spread parameters to the whole ones; gradients the other way."""

    @staticmethod
    def forward(ctx: Any, group: ParameterGroup, *spread: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        ctx.set_materialize_grads(False)
        whole = [group.in_module(each.view_as(each), i) for i, each in enumerate(group.unshard())]
        ctx.mark_non_differentiable(*[each for each, own in zip(whole, spread, strict=True) if not own.requires_grad])
        return tuple(whole)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> tuple:
        reduced = ctx.group.reduced(grads)
        if ctx.group.reshards_after_backward:
            ctx.group.reshard()
        return None, *reduced
