"""`fully_shard`: makes the parameters of a module spread, and gathers them while it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import tree_map
from mindtorch.autograd.graph import saved_tensors_hooks
from mindtorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from mindtorch.distributed.fsdp.group import ParameterGroup, Places
from mindtorch.distributed.fsdp.policies import MixedPrecisionPolicy, OffloadPolicy
from mindtorch.distributed.starting import init_process_group
from mindtorch.distributed.tensor import DTensor
from mindtorch.distributed.world import get_world_size, is_initialized
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

_running: list[Any] = []  # the spread modules that compute now


class _State:
    """What `fully_shard` adds to a module."""

    def __init__(self, group: ParameterGroup | None, policy: MixedPrecisionPolicy, reshards: bool | None) -> None:
        self.group = group
        self.policy = policy
        self.reshards = reshards  # after the forward pass; None: unless it is the outermost

    def run(self, forward: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        """A forward pass with whole parameters."""
        reshards = bool(_running) if self.reshards is None else self.reshards
        if self.policy.cast_forward_inputs and self.policy.param_dtype is not None:
            args, kwargs = _converted((args, kwargs), self.policy.param_dtype)
        result = (
            forward(*args, **kwargs) if self.group is None else self._whole(self.group, reshards, forward, args, kwargs)
        )
        return result if self.policy.output_dtype is None else _converted(result, self.policy.output_dtype)

    def _whole(self, group: ParameterGroup, reshards: bool, forward: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        _running.append(self)
        try:
            group.enter()
            with saved_tensors_hooks(lambda tensor: _packed(tensor, group), _unpacked):
                return forward(*args, **kwargs)
        finally:
            group.leave(reshards)
            _running.pop()


class _OfWhole(NamedTuple):
    """A saved tensor that is a part of a whole parameter, which is gathered again when the tensor is needed."""

    group: ParameterGroup
    parameter: int
    size: Any
    stride: Any
    offset: int
    as_whole: Callable[[Tensor], Tensor]  # a DTensor again, where it was one


def _packed(tensor: Tensor, group: ParameterGroup) -> Any:
    place = group.place_in(tensor)
    if place is None:
        return tensor
    if isinstance(tensor, DTensor):
        own, mesh, placements, shape = tensor._local_tensor, tensor.device_mesh, tensor.placements, tensor.shape
        again = lambda local: DTensor(local, mesh, placements, shape)  # noqa: E731
        return _OfWhole(group, place, own.size(), own.stride(), own.storage_offset(), again)
    return _OfWhole(group, place, tensor.size(), tensor.stride(), tensor.storage_offset(), _as_it_is)


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _unpacked(saved: Any) -> Tensor:
    if not isinstance(saved, _OfWhole):
        return saved
    part = saved.group.unshard()[saved.parameter].as_strided(saved.size, saved.stride, saved.offset)
    return saved.as_whole(part)


def _converted(tree: Any, dtype: Dtype) -> Any:
    return tree_map(
        lambda each: each.to(dtype) if isinstance(each, Tensor) and each.is_floating_point() else each, tree
    )


class UnshardHandle:
    """What waits for whole parameters, which are there already."""

    def wait(self) -> None:
        """Nothing is under way."""


class FSDPModule:
    """What the class of a module is based on after `fully_shard`."""

    _fsdp: _State

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A module that is made of the class of another one is an ordinary one."""
        original: Any = cls.__mro__[2]
        made = original.__new__(original)
        made.__init__(*args, **kwargs)
        return made

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._fsdp.run(super().forward, args, kwargs)  # type: ignore[misc]

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Have the whole parameters in the module."""
        group = self._fsdp.group
        if group is not None:
            group._put([Parameter(group.in_module(each, i), False) for i, each in enumerate(group.unshard())])
        return UnshardHandle() if async_op else None

    def reshard(self) -> None:
        """Have the spread parameters in the module, and forget the whole ones."""
        if self._fsdp.group is not None:
            self._fsdp.group.reshard()

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        """Whether backward passes reduce gradients, or only sum them up in this process."""
        for group in self._groups(recurse):
            group.syncs = requires_gradient_sync

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Whether gradients are reduced over the first dimension of a mesh of two."""
        for group in self._groups(recurse):
            group.all_reduces = requires_all_reduce

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Whether whole parameters are forgotten after forward passes, and gathered again for backward passes."""
        for module in self.modules() if recurse else [self]:  # type: ignore[attr-defined]
            if isinstance(module, FSDPModule):
                module._fsdp.reshards = reshard_after_forward

    def set_reshard_after_backward(self, reshard_after_backward: bool, *, recurse: bool = True) -> None:
        """Whether whole parameters are forgotten after backward passes."""
        for group in self._groups(recurse):
            group.reshards_after_backward = reshard_after_backward

    def set_gradient_divide_factor(self, factor: float) -> None:
        """What the sums of gradients are divided by, rather than by the number of processes."""
        if self._fsdp.group is not None:
            self._fsdp.group.divisor = factor

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Nothing is under way between backward passes."""

    def set_modules_to_forward_prefetch(self, modules: list[Any]) -> None:
        """Parameters are gathered when they are needed."""

    def set_modules_to_backward_prefetch(self, modules: list[Any]) -> None:
        """Parameters are gathered when they are needed."""

    def _groups(self, recurse: bool) -> Iterator[ParameterGroup]:
        for module in self.modules() if recurse else [self]:  # type: ignore[attr-defined]
            if isinstance(module, FSDPModule) and module._fsdp.group is not None:
                yield module._fsdp.group


def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Any = None,
    mp_policy: MixedPrecisionPolicy | None = None,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: set[Parameter] | None = None,
    dp_mesh_dims: Any = None,
) -> Any:
    """Spread the parameters of a module over the processes of a mesh, but for those of submodules that are spread.

    While the module computes they are whole. With `reshard_after_forward` they are forgotten after the forward pass and
    gathered again in the backward pass; that is the default but for the outermost module. A mesh of two dimensions
    spreads along the second. Call it for submodules first, and make the optimizer afterwards.
    """
    if isinstance(module, list):
        raise NotImplementedError("fully_shard of a list of modules: call it for each of them")
    if isinstance(module, FSDPModule):
        raise ValueError("fully_shard has been called for this module before")
    if shard_placement_fn is not None or dp_mesh_dims is not None:
        raise NotImplementedError("fully_shard of mindtorch spreads parameters along their first dimension only")
    if isinstance(reshard_after_forward, int) and not isinstance(reshard_after_forward, bool):
        raise NotImplementedError("reshard_after_forward is True or False in mindtorch, not a number of processes")
    policy = mp_policy or MixedPrecisionPolicy()
    places = _own_parameters(module, ignored_params or set())
    group = ParameterGroup(places, mesh or _mesh_of_all(), policy) if places else None
    cls = type(module)
    module.__class__ = type(f"FSDP{cls.__name__}", (FSDPModule, cls), {"__module__": cls.__module__})
    module._fsdp = _State(group, policy, reshard_after_forward)
    return module


def register_fsdp_forward_method(module: Module, method_name: str) -> None:
    """Have parameters be whole in another method than `forward`; nothing for modules that are not spread."""
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    method = getattr(module, method_name)
    setattr(module, method_name, lambda *args, **kwargs: module._fsdp.run(method, args, kwargs))


def _mesh_of_all() -> DeviceMesh:
    if not is_initialized():
        init_process_group()
    return init_device_mesh("cpu", (get_world_size(),))


def _own_parameters(module: Module, ignored: set[Parameter]) -> dict[Tensor, Places]:
    """The parameters of a module and its submodules but for those that are spread, with all their places."""
    found: dict[Tensor, Places] = {}
    waiting: list[Module] = [module]
    while waiting:
        each = waiting.pop(0)
        for name, parameter in each._parameters.items():
            if parameter is not None and parameter not in ignored:
                found.setdefault(parameter, []).append((each, name))
        waiting += [child for child in each.children() if not isinstance(child, FSDPModule)]
    return found
