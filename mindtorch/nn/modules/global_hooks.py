"""Hooks on the calls of all modules, and on what is registered with them."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from mindtorch.autograd._engine.hooks import RemovableHandle, add_hook

in_use = False  # whether there has ever been one: quicker to ask than the tables

forward_pre: OrderedDict[int, Callable] = OrderedDict()
forward: OrderedDict[int, Callable] = OrderedDict()
full_backward_pre: OrderedDict[int, Callable] = OrderedDict()
full_backward: OrderedDict[int, Callable] = OrderedDict()
backward: OrderedDict[int, Callable] = OrderedDict()  # see mindtorch.nn.modules.node_hooks
_backward_is_full: bool | None = None  # which of the two tables is used; there is no going back
forward_with_kwargs: dict[int, bool] = OrderedDict()
forward_always_called: dict[int, bool] = OrderedDict()
parameter_registration: OrderedDict[int, Callable] = OrderedDict()
buffer_registration: OrderedDict[int, Callable] = OrderedDict()
module_registration: OrderedDict[int, Callable] = OrderedDict()


def with_own(common: OrderedDict, own: OrderedDict) -> Iterator[tuple[int, Callable]]:
    """The hooks of all modules, then those of one; while they run, more may be registered."""
    return chain(list(common.items()), list(own.items()))


def registered(hooks: OrderedDict, module: Any, name: str, value: Any) -> Any:
    """What to register with a module, after the hooks."""
    for hook in tuple(hooks.values()):
        result = hook(module, name, value)
        value = value if result is None else result
    return value


def _register(hooks: OrderedDict, hook: Callable) -> RemovableHandle:
    global in_use
    in_use = True
    return add_hook(hooks, hook)[1]


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call hook(module, args) before every forward."""
    return _register(forward_pre, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call hook(module, args, output) after every forward."""
    handle = _register(forward, hook)
    if with_kwargs:
        forward_with_kwargs[handle.id] = True
    if always_call:
        forward_always_called[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call hook(module, grad_output) before the gradients of any module's inputs are computed."""
    return _register(full_backward_pre, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call hook(module, grad_input, grad_output) when the gradients of any module's inputs are known."""
    _decide_on_backward(is_full=True)
    return _register(full_backward, hook)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Call hook(module, grad_input, grad_output) with the gradients of the node that made any module's output."""
    _decide_on_backward(is_full=False)
    return _register(backward, hook)


def _decide_on_backward(is_full: bool) -> None:
    global _backward_is_full
    if _backward_is_full is (not is_full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    _backward_is_full = is_full


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call hook(module, name, parameter) for every parameter that a module gets."""
    return _register(parameter_registration, hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call hook(module, name, buffer) for every buffer that a module gets."""
    return _register(buffer_registration, hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call hook(module, name, submodule) for every submodule that a module gets."""
    return _register(module_registration, hook)
