"""`Optimizer`: parameter groups, state and hooks; `ElementwiseOptimizer`: the loop that most optimizers share."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import deepcopy
from functools import wraps
from itertools import chain
from typing import Any, overload

from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.accumulate_grad import clear_gradient
from mindtorch.autograd._engine.hooks import RemovableHandle
from mindtorch.autograd.grad_mode import enable_grad, no_grad
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_fused, check_step
from mindtorch.optim.older_files import LATER_OPTIONS, add_later_options, make_counters


class _RequiredParameter:
    """The default of options that every group of parameters has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()

_DUPLICATES = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
    "see github.com/pytorch/pytorch/issues/40967 for more information"
)
_HOOK_TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


Hooks = OrderedDict[int, Callable]

# Hooks of all optimizers.
_global_optimizer_pre_hooks: Hooks = OrderedDict()
_global_optimizer_post_hooks: Hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) before every step of any optimizer."""
    return _registered(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) after every step of any optimizer."""
    return _registered(_global_optimizer_post_hooks, hook)


def _registered(hooks: Hooks, hook: Callable) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _with_hooks(step: Callable) -> Callable:
    """A `step` that runs the hooks around it, and by which a scheduler knows that it was called."""

    @wraps(step)
    def step_with_hooks(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        before, after = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if before or after or _global_optimizer_pre_hooks or _global_optimizer_post_hooks:
            return _called_with_hooks(step, self, args, kwargs)
        return step(self, *args, **kwargs)

    vars(step_with_hooks)["hooked"] = True
    return step_with_hooks


def _add_hooks_to_step(cls: type[Optimizer]) -> None:
    """When the first of a class is made: a wrapper that doesn't call `__init__` has no tables of hooks."""
    if not hasattr(cls.step, "hooked"):
        cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]  # it is wrapped


def _called_with_hooks(step: Callable, optimizer: Optimizer, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Hooks get the arguments as `step` does, the optimizer being the first."""
    args = (optimizer, *args)
    for hook in [*_global_optimizer_pre_hooks.values(), *optimizer._optimizer_step_pre_hooks.values()]:
        changed = hook(optimizer, args, kwargs)
        if changed is not None:
            args, kwargs = _checked_arguments(changed)
    result = step(*args, **kwargs)
    for hook in [*optimizer._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()]:
        hook(optimizer, args, kwargs)
    return result


def _checked_arguments(result: Any) -> tuple[tuple, dict[str, Any]]:
    if isinstance(result, tuple) and len(result) == 2:
        return result
    raise RuntimeError(f"step pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}.")


class Optimizer:
    """What all optimizers share. A subclass defines `step`."""

    _opt_called: bool
    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._add_hook_tables()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {params.type()}"
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        check_fused(defaults, self._all_parameters())

    def _add_hook_tables(self) -> None:
        for table in _HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())
        self.__dict__.setdefault("_opt_called", False)
        _add_hooks_to_step(type(self))

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients."""
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                else:
                    clear_gradient(parameter.grad)

    # -------------------- parameter groups --------------------

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _set_parameters(param_group)
        for parameter in param_group["params"]:
            _check_parameter(parameter, self.defaults.get("differentiable"))
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self._check_new_parameters(param_group)
        self.param_groups.append(param_group)

    def _check_new_parameters(self, param_group: Group) -> None:
        added = {id(parameter) for parameter in param_group["params"]}
        if len(added) != len(param_group["params"]):
            warn(_DUPLICATES, UserWarning)
        has_names = "param_names" in param_group
        if any(("param_names" in group) != has_names for group in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if has_names else 'without'} names to the optimizer"
            )
        if not added.isdisjoint(map(id, self._all_parameters())):
            raise ValueError("some parameters appear in more than one parameter group")

    def __repr__(self) -> str:
        groups = (
            f"Parameter Group {number}\n" + "".join(f"    {key}: {group[key]}\n" for key in sorted(_options(group)))
            for number, group in enumerate(self.param_groups)
        )
        return f"{type(self).__name__} (\n" + "\n".join(groups) + ")"

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._add_hook_tables()

    # -------------------- saving and loading --------------------

    def state_dict(self) -> dict[str, Any]:
        """The state by the number of the parameter, and the groups with numbers instead of parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {id(parameter): number for number, parameter in enumerate(self._all_parameters())}
        packed = {
            "state": {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()},
            "param_groups": [
                {**_options(group), "params": [numbers[id(parameter)] for parameter in group["params"]]}
                for group in self.param_groups
            ],
        }
        for hook in self._optimizer_state_dict_post_hooks.values():
            result = hook(self, packed)
            packed = packed if result is None else result
        return packed

    def _all_parameters(self) -> Iterable[Tensor]:
        return chain.from_iterable(group["params"] for group in self.param_groups)

    @no_grad()
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state and the options that another optimizer of the same shape saved."""
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            result = hook(self, state_dict)
            state_dict = state_dict if result is None else result
        groups = deepcopy(state_dict["param_groups"])
        self._check_groups(groups)
        by_number = dict(zip(chain.from_iterable(group["params"] for group in groups), self._all_parameters()))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = by_number.get(key)
            state[key if parameter is None else parameter] = _cast(parameter, value)
        for saved, own in zip(groups, self.param_groups):
            saved["params"] = own["params"]
            if "param_names" in own:
                saved.setdefault("param_names", own["param_names"])
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _check_groups(self, saved: list[Group]) -> None:
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(one["params"]) != len(other["params"]) for one, other in zip(saved, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )

    # -------------------- hooks --------------------

    def _add_hook(self, table: str, hook: Callable, prepend: bool = False) -> RemovableHandle:
        hooks = self.__dict__[table]
        handle = _registered(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before every step; it may return other arguments."""
        return self._add_hook("_optimizer_step_pre_hooks", hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after every step."""
        return self._add_hook("_optimizer_step_post_hooks", hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) before `state_dict`."""
        return self._add_hook("_optimizer_state_dict_pre_hooks", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) after `state_dict`; it may return another one."""
        return self._add_hook("_optimizer_state_dict_post_hooks", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) before `load_state_dict`; it may return another one."""
        return self._add_hook("_optimizer_load_state_dict_pre_hooks", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) after `load_state_dict`."""
        return self._add_hook("_optimizer_load_state_dict_post_hooks", hook, prepend)


def _listed(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    return list(params)


def _set_parameters(group: Group) -> None:
    """List the parameters of a group; names that come in pairs with them get a list of their own."""
    listed = _listed(group["params"])
    names = [value[0] for value in listed if isinstance(value, tuple)]
    group["params"] = [value[1] if isinstance(value, tuple) else value for value in listed]
    if not names:
        return
    if len(names) != len(listed):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    group["param_names"] = names


def _check_parameter(parameter: Any, differentiable: bool | None) -> None:
    if not isinstance(parameter, Tensor):
        name = errors.type_name(parameter)
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {name}")
    if not differentiable and not (parameter.is_leaf or parameter.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _options(group: Group) -> Group:
    return {key: value for key, value in group.items() if key != "params"}


def _cast(parameter: Tensor | None, value: Any, key: Hashable = None) -> Any:
    """Loaded state in the dtype and on the device of its parameter; step counters stay as they are."""
    if isinstance(value, Tensor):
        if parameter is None or key == "step":
            return value
        if parameter.is_floating_point():
            return value.to(dtype=parameter.dtype, device=parameter.device)
        return value.to(device=parameter.device)
    if isinstance(value, dict):
        return {name: _cast(parameter, each, name) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(parameter, each, key) for each in value)
    return value


class ElementwiseOptimizer(Optimizer):
    """An optimizer that changes one parameter at a time; a subclass defines `update`."""

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        """Change a parameter, in place, and its state."""
        raise NotImplementedError

    # What `capturable` asks to be on a device that can capture, in the words of the complaint.
    captured = "params and state_steps"
    later_options: Mapping[str, Any] = LATER_OPTIONS
    counts_in_tensors = True

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        add_later_options(self.param_groups, self.defaults, self.later_options)
        if self.counts_in_tensors:
            make_counters(self.state.values())

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure is called first and its loss returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if self.defaults.get("differentiable"):
            with enable_grad():
                self._update_all()
        else:
            self._update_all()
        return loss

    def _update_all(self) -> None:
        for group in self.param_groups:
            is_special = group.get("capturable") or group.get("foreach")
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is not None:
                    if is_special:
                        check_step(group, self.captured)
                    self._update(parameter, grad, group)

    def _update(self, parameter: Tensor, grad: Tensor, group: Group) -> None:
        if group.get("maximize"):
            grad = -grad
        update = self._update_complex if parameter.is_complex() else self.update
        update(parameter, grad, self.state[parameter], group)

    def _update_complex(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        """Change a complex parameter as if its real and imaginary parts were two; its state is complex as well."""
        parts = {name: as_parts(value) if isinstance(value, Tensor) else value for name, value in state.items()}
        shown = as_parts(parameter)
        self.update(shown, as_parts(grad), parts, group)
        for name, value in parts.items():
            is_like_it = isinstance(value, Tensor) and value.shape == shown.shape
            state[name] = ops.view_as_complex(value) if is_like_it else value


def as_parts(tensor: Tensor) -> Tensor:
    """A complex tensor as its real and imaginary parts, any other as it is."""
    return ops.view_as_real(tensor) if tensor.is_complex() else tensor


def as_scalar(rate: Any) -> Any:
    """A rate that is a tensor without its dimensions of size 1, a number as it is."""
    return rate.squeeze() if isinstance(rate, Tensor) else rate


def add_at_places(parameter: Tensor, grad: Tensor, share: float) -> None:
    """Add a share of a sparse gradient."""
    grad = grad.coalesce()
    parameter.index_put_(tuple(grad.indices()), grad.values() * share, accumulate=True)


def as_kept(state: Tensor, group: Group) -> Tensor:
    """State in a form that a graph can keep: the next step writes to it."""
    return state.clone() if group.get("differentiable") else state


def decayed(parameter: Tensor, grad: Tensor, group: Group) -> Tensor:
    """The gradient with the weight decay of the group; a decoupled one changes the parameter instead."""
    decay = group["weight_decay"]
    if not decay:
        return grad
    if group.get("decoupled_weight_decay"):
        parameter.mul_(1 - float(group["lr"]) * decay)
        return grad
    return grad.add(parameter, alpha=decay)
