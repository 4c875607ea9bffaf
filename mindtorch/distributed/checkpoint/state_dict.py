"""State dicts that do not depend on how a model is spread over processes: by the names of the model itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributed.collectives import broadcast
from mindtorch.distributed.objects import broadcast_object_list
from mindtorch.distributed.tensor import DTensor, distribute_tensor
from mindtorch.distributed.world import get_rank, is_initialized
from mindtorch.nn.modules.module import Module
from mindtorch.optim import Optimizer


@dataclass
class StateDictOptions:
    """What the state dicts are to be like.

    With `full_state_dict`, tensors are whole; with `cpu_offload` as well, the process of rank 0 alone gets them. With
    `broadcast_from_rank0`, the processes take what that of rank 0 was given.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


Optimizers = Optimizer | Iterable[Optimizer]


def get_state_dict(
    model: Module, optimizers: Optimizers, *, submodules: Any = None, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of a model and of its optimizers."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


def set_state_dict(
    model: Module,
    optimizers: Optimizers,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Load the states of a model and of its optimizers; the names that were missing or not expected."""
    result = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return result


@no_grad()
def get_model_state_dict(
    model: Module, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The state of a model, by the names that it has without wrappers."""
    chosen = _checked(options, submodules)
    frozen = {name for name, each in model.named_parameters() if not each.requires_grad}
    found = {
        _own_name(model, name): value
        for name, value in model.state_dict().items()
        if not (chosen.ignore_frozen_params and name in frozen)
    }
    return _given_out(found, chosen)


@no_grad()
def set_model_state_dict(
    model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load the state of a model; the names that were missing or not expected."""
    chosen = _checked(options, None)
    given = _broadcast_whole(model_state_dict) if chosen.broadcast_from_rank0 else model_state_dict
    wrapped = {_own_name(model, name): (name, value) for name, value in model.state_dict().items()}
    state = {}
    for name, value in given.items():
        own_name, own = wrapped.get(name, (name, None))
        state[own_name] = _like(own, value)
    has_no_memory = any(isinstance(own, Tensor) and own.is_meta for _, own in wrapped.values())
    return model.load_state_dict(state, strict=chosen.strict, assign=has_no_memory)


@no_grad()
def get_optimizer_state_dict(
    model: Module, optimizers: Optimizers, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The state of optimizers, by the names of the model's parameters."""
    chosen = _checked(options, submodules)
    names = _names_of_parameters(model)
    result: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _listed(optimizers):
        _init_optim_state(optimizer)
        own = optimizer.state_dict()
        for group, numbered in zip(optimizer.param_groups, own["param_groups"], strict=True):
            by_number = {
                number: names[parameter] for number, parameter in zip(numbered["params"], group["params"], strict=True)
            }
            result["param_groups"].append({**numbered, "params": list(by_number.values())})
            for number, name in by_number.items():
                if number in own["state"]:
                    result["state"][name] = own["state"][number]
    return _given_out(_flat(result) if chosen.flatten_optimizer_state_dict else result, chosen)


@no_grad()
def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizers,
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load the state of optimizers."""
    chosen = _checked(options, None)
    given = _broadcast_whole(optim_state_dict) if chosen.broadcast_from_rank0 else optim_state_dict
    names = _names_of_parameters(model)
    for optimizer in _listed(optimizers):
        _init_optim_state(optimizer)
        own = optimizer.state_dict()
        whole = given if "state" in given else _nested(given, optimizer, names)
        for group, numbered in zip(optimizer.param_groups, own["param_groups"], strict=True):
            wanted = [names[each] for each in group["params"]]
            numbered.update(_options_for(whole["param_groups"], wanted))
            for number, name in zip(numbered["params"], wanted, strict=True):
                if name in whole["state"]:
                    own["state"][number] = _merged(own["state"].get(number, {}), whole["state"][name])
        optimizer.load_state_dict(own)


# -------------------- names and options --------------------


def _checked(options: StateDictOptions | None, submodules: Any) -> StateDictOptions:
    if submodules is not None:
        raise NotImplementedError("state dicts of some submodules only: call the function for each of them")
    chosen = options or StateDictOptions()
    if chosen.broadcast_from_rank0 and not chosen.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return chosen


_WRAPPERS = {"DistributedDataParallel": "module", "OptimizedModule": "_orig_mod"}


def _own_name(model: Module, name: str) -> str:
    """A name without the parts that come from wrappers."""
    kept, module = [], model
    for part in name.split("."):
        if _WRAPPERS.get(type(module).__name__) != part:
            kept.append(part)
        module = getattr(module, part, None)  # type: ignore[assignment]
    return ".".join(kept)


def _names_of_parameters(model: Module) -> dict[Tensor, str]:
    return {each: _own_name(model, name) for name, each in model.named_parameters()}


def _listed(optimizers: Optimizers) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def _options_for(groups: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """The options of the saved group that has these parameters."""
    for group in groups:
        if set(names) <= set(group["params"]):
            return {key: value for key, value in group.items() if key != "params"}
    raise RuntimeError(f"the state dict has no group of parameters with {names}")


# -------------------- values --------------------


def _init_optim_state(optimizer: Optimizer) -> None:
    """Have an optimizer make its state, by a step that changes nothing: there is something to load into."""
    everything = [each for group in optimizer.param_groups for each in group["params"]]
    if optimizer.state or any(each.grad is not None for each in everything):
        return
    for each in everything:
        if each.requires_grad:
            each.grad = ops.zeros_like(each)
    rates = [group.get("lr") for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        if "lr" in group:
            group["lr"] = ops.zeros(()) if isinstance(group["lr"], Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if "lr" in group:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def _given_out(state: Any, options: StateDictOptions) -> Any:
    """The values as the options want them."""
    if options.full_state_dict:
        state = _mapped(state, lambda each: each.full_tensor() if isinstance(each, DTensor) else each)
        if options.cpu_offload and is_initialized() and get_rank() != 0:
            return {}
    return _mapped(state, lambda each: each.cpu()) if options.cpu_offload else state


def _mapped(value: Any, function: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _mapped(each, function) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(each, function) for each in value])
    return function(value) if isinstance(value, Tensor) else value


def _like(own: Any, value: Any) -> Any:
    """A whole tensor spread as one of the model's is."""
    if isinstance(own, DTensor) and isinstance(value, Tensor) and not isinstance(value, DTensor):
        return distribute_tensor(value, own.device_mesh, own.placements, src_data_rank=None)
    return value


def _merged(own: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    return {key: _like(own.get(key), value) for key, value in given.items()}


def _broadcast_whole(state: Any) -> Any:
    """What the process of rank 0 was given, in all: first what there is, then the tensors one after the other."""
    described = [_mapped(state, lambda each: _Described(each)) if get_rank() == 0 else None]
    broadcast_object_list(described, src=0)
    return _received(described[0], state)


class _Described:
    """A tensor that is still to come."""

    def __init__(self, tensor: Tensor) -> None:
        self.shape, self.dtype = tuple(tensor.shape), tensor.dtype


def _received(described: Any, own: Any) -> Any:
    if isinstance(described, _Described):
        is_first = get_rank() == 0
        tensor = own.detach().contiguous().clone() if is_first else ops.empty(described.shape, dtype=described.dtype)
        broadcast(tensor, src=0)
        return tensor
    is_first = get_rank() == 0
    if isinstance(described, Mapping):
        return {key: _received(each, own[key] if is_first else None) for key, each in described.items()}
    if isinstance(described, (list, tuple)):
        return [_received(each, own[place] if is_first else None) for place, each in enumerate(described)]
    return described


# -------------------- flat states of optimizers --------------------


def _flat(state: dict[str, Any]) -> dict[str, Any]:
    result = {f"state.{name}.{key}": value for name, each in state["state"].items() for key, value in each.items()}
    for group in state["param_groups"]:
        for name in group["params"]:
            result.update({f"param_groups.{name}.{key}": value for key, value in group.items() if key != "params"})
    return result


def _nested(flat: Mapping[str, Any], optimizer: Optimizer, names: Mapping[Tensor, str]) -> dict[str, Any]:
    result: dict[str, Any] = {"state": {}, "param_groups": []}
    for group in optimizer.param_groups:
        members = [names[each] for each in group["params"]]
        first = f"param_groups.{members[0]}."
        options = {key.removeprefix(first): value for key, value in flat.items() if key.startswith(first)}
        result["param_groups"].append({**options, "params": members})
        for name in members:
            start = f"state.{name}."
            result["state"][name] = {
                key.removeprefix(start): value for key, value in flat.items() if key.startswith(start)
            }
    return result
