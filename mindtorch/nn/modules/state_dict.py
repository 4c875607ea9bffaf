"""What `Module.state_dict` and `Module.load_state_dict` do: members to a dictionary by dotted name and back."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.nn.parameter import Parameter


class IncompatibleKeys(namedtuple("_IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that a state_dict lacks and those that the module lacks."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


# -------------------- saving --------------------


def state_dict(module: Any, destination: dict | None, prefix: str, keep_vars: bool) -> dict:
    """A module's part of a state_dict, which is made if none is given, and those of its submodules."""
    if destination is None:
        destination = OrderedDict()
        vars(destination)["_metadata"] = OrderedDict()
    local_metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in module._state_dict_hooks.values():
        replaced = hook(module, destination, prefix, local_metadata)
        if replaced is not None:
            destination = replaced
    return destination


class OnlyWatches:
    """A hook after `state_dict` that may change the dictionary, but not give another one."""

    def __init__(self, hook: Callable) -> None:
        self.hook = hook

    def __call__(self, *args: Any) -> None:
        if self.hook(*args) is not None:
            raise RuntimeError("state_dict post-hook must return None")


class WithoutModule:
    """A hook before loading that is not told the module, as the older ones are. It can be copied with its module."""

    def __init__(self, hook: Callable) -> None:
        self.hook = hook

    def __call__(self, module: Any, *args: Any) -> None:
        self.hook(*args)


def save_members(module: Any, destination: dict, prefix: str, keep_vars: bool) -> None:
    """Put a module's own parameters and persistent buffers into a state_dict."""
    for name, tensor in _own_members(module).items():
        if tensor is not None:
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if _has_own(module, "get_extra_state"):
        destination[prefix + EXTRA_STATE] = module.get_extra_state()


EXTRA_STATE = "_extra_state"


def no_extra_state(name: str) -> RuntimeError:
    return RuntimeError(
        f"Reached a code path in Module.{name}() that should never be called. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
    )


def _has_own(module: Any, name: str) -> bool:
    """Whether the module's class defines a method that `Module` only has a stand-in for."""
    found = getattr(type(module), name, None)  # of the class itself: its `__module__` may be PyTorch's
    return found is not None and getattr(found, "__module__", None) != "mindtorch.nn.modules.module"


def _own_members(module: Any) -> dict[str, Tensor | None]:
    persistent = {
        name: buffer for name, buffer in module._buffers.items() if name not in module._non_persistent_buffers_set
    }
    return {**module._parameters, **persistent}


# -------------------- loading --------------------


def load_state_dict(module: Any, given: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Load a module and all below it; with `strict`, names must match exactly."""
    if not isinstance(given, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(given)}.")
    state = OrderedDict(given)
    keys = IncompatibleKeys([], [])
    errors: list[str] = []
    _load(module, state, "", getattr(given, "_metadata", None), keys, errors, assign)
    if strict:
        errors = _name_errors(keys) + errors
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")
    return keys


def _name_errors(keys: IncompatibleKeys) -> list[str]:
    return [
        f"{what} key(s) in state_dict: {', '.join(map(_quoted, names))}. "
        for what, names in (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys))
        if names
    ]


def _quoted(name: str) -> str:
    return f'"{name}"'


def _load(
    module: Any, state: dict, prefix: str, metadata: Any, keys: IncompatibleKeys, errors: list[str], assign: bool
) -> None:
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = True
    module._load_from_state_dict(state, prefix, local_metadata, True, keys.missing_keys, keys.unexpected_keys, errors)
    for name, child in module._modules.items():
        if child is not None:
            path = f"{prefix}{name}."
            part = {key: value for key, value in state.items() if key.startswith(path)}
            _load(child, part, path, metadata, keys, errors, assign)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def load_members(
    module: Any,
    state: dict[str, Any],
    prefix: str,
    local_metadata: dict[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    errors: list[str],
) -> None:
    """Load a module's own parameters and persistent buffers."""
    for hook in module._load_state_dict_pre_hooks.values():
        hook(module, state, prefix, local_metadata, strict, missing_keys, unexpected_keys, errors)
    assign = local_metadata.get("assign_to_params_buffers", False)
    members = {name: member for name, member in _own_members(module).items() if member is not None}
    for name, member in members.items():
        key = prefix + name
        if key in state:
            errors += _load_member(module, name, member, key, state[key], assign)
        elif strict:
            missing_keys.append(key)
    _load_extra_state(module, state, prefix + EXTRA_STATE, strict, missing_keys, unexpected_keys)
    if strict:
        unexpected_keys += [key for key in state if _is_unexpected(key, prefix, members, module)]


def _load_extra_state(
    module: Any, state: dict[str, Any], key: str, strict: bool, missing_keys: list[str], unexpected_keys: list[str]
) -> None:
    if _has_own(module, "set_extra_state"):
        if key in state:
            module.set_extra_state(state[key])
        elif strict:
            missing_keys.append(key)
    elif strict and key in state:
        unexpected_keys.append(key)


def _is_unexpected(key: str, prefix: str, members: dict[str, Tensor], module: Any) -> bool:
    if not key.startswith(prefix) or key == prefix + EXTRA_STATE:
        return False
    name, dot, _ = key[len(prefix) :].partition(".")
    return name not in module._modules if dot else name not in members


def _load_member(module: Any, name: str, member: Tensor, key: str, value: Any, assign: bool) -> list[str]:
    """Load one tensor; returns what is wrong with it."""
    if not isinstance(value, Tensor):
        return [
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        ]
    if member.ndim == 0 and value.shape == (1,):
        value = value[0]  # scalars were saved with one dimension long ago
    if value.shape != member.shape:
        return [
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {member.shape}."
        ]
    if assign:
        _assign(module, name, member, value)
        return []
    return _copy(member, value, key)


def _assign(module: Any, name: str, member: Tensor, value: Tensor) -> None:
    if isinstance(member, Parameter) and not isinstance(value, Parameter):
        value = Parameter(value, member.requires_grad)
    setattr(module, name, value)


def _copy(member: Tensor, value: Tensor, key: str) -> list[str]:
    try:
        with no_grad():
            member.copy_(value)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return [
            f'While copying the parameter named "{key}", whose dimensions in the model are {member.shape} and '
            f"whose dimensions in the checkpoint are {value.shape}, an exception occurred : {error.args}."
        ]
    return []
