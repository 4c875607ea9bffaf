"""`torch.overrides`: taking over calls with `__torch_function__`, and finding out what can be taken over."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from inspect import Signature, signature
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch._functions.overridable import IGNORED, MODULES, OverridableFunction, OverridableProperty
from mindtorch.dispatch import torch_function
from mindtorch.dispatch.overloads import OpOverload, OpOverloadPacket
from mindtorch.dispatch.torch_function import ask, begin, in_order, takes_over

BaseTorchFunctionMode = torch_function.BaseTorchFunctionMode
DisableTorchFunction = torch_function.without_torch_function_and_modes
DisableTorchFunctionSubclass = torch_function.without_torch_function
TorchFunctionMode = torch_function.TorchFunctionMode
has_torch_function = torch_function.has_torch_function

_thread = state.thread


def has_torch_function_unary(value: Any) -> bool:
    """`has_torch_function` for one argument."""
    return has_torch_function((value,))


def has_torch_function_variadic(*values: Any) -> bool:
    """`has_torch_function` with the arguments as they are."""
    return has_torch_function(values)


def handle_torch_function(public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Have a call of `public_api` taken over: by the innermost mode, or by the classes of the relevant arguments."""
    begin()
    overriders = _overriders(relevant_args)
    answer = ask(public_api, overriders, args, kwargs)
    if answer is NotImplemented:
        raise torch_function.no_implementation(f"{public_api.__module__}.{public_api.__name__}", overriders)
    return answer


def _overriders(relevant_args: Iterable[Any]) -> list[Any]:
    return in_order(value for value in relevant_args if isinstance(value, Tensor) or takes_over(type(value)))


def wrap_torch_function(dispatcher: Callable) -> Callable[[Callable], Callable]:
    """A decorator that lets a function be taken over. `dispatcher`, called like the function, gives the arguments
    that matter."""

    def inner(function: Callable) -> Callable:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant_args = dispatcher(*args, **kwargs)
            if has_torch_function(relevant_args):
                return handle_torch_function(wrapped, relevant_args, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return inner


# -------------------- modes --------------------


def _get_current_function_mode() -> Any:
    return _thread.function_modes[-1] if _thread.function_modes else None


def _get_current_function_mode_stack() -> list[Any]:
    return list(_thread.function_modes)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """In a `__torch_dispatch__`: calls in this block are recorded by autograd, as those outside are."""
    grad_enabled = _thread.grad_enabled
    state.set_grad_enabled(True)
    try:
        yield
    finally:
        state.set_grad_enabled(grad_enabled)


@contextmanager
def _enable_torch_function() -> Iterator[None]:
    """In this block `__torch_function__` of subclasses is looked at again."""
    before = _thread.torch_function
    _thread.torch_function = True
    try:
        yield
    finally:
        _thread.torch_function = before


# -------------------- what can be taken over --------------------


def is_tensor_like(value: Any) -> bool:
    """Whether the value is a tensor, or has a `__torch_function__`."""
    return type(value) is Tensor or hasattr(value, "__torch_function__")


@cache
def _overridable_by_owner() -> dict[Any, dict[str, Any]]:
    """Names and functions, by module or class; properties by their accessors."""
    begin()
    found: dict[Any, dict[str, Any]] = {}
    for torch_name, module_name in MODULES.items():
        if torch_name == "torch.autograd":
            continue  # torch leaves it out, too
        module = import_module(module_name)
        found[module] = {f"{_place(torch_name, value)}.{name}": value for name, value in _functions_of(module)}
    found[Tensor] = {f"torch.Tensor.{name}": value for name, value in _functions_of(Tensor)}
    for name, value in vars(Tensor).items():
        if isinstance(value, OverridableProperty):
            found[value] = {
                f"torch.Tensor.{name}.__get__": value.__get__,
                f"torch.Tensor.{name}.__set__": value.__set__,
            }
    return found


def _place(module: str, function: OverridableFunction) -> str:
    """The module in which torch defines a function that it offers in another."""
    return "torch.functional" if module == "torch" and function.in_python else module


def _functions_of(owner: Any) -> list[tuple[str, OverridableFunction]]:
    return [(name, value) for name, value in vars(owner).items() if isinstance(value, OverridableFunction)]


@cache
def _names() -> dict[Any, str]:
    names: dict[Any, str] = {}
    for owner, functions in _overridable_by_owner().items():
        for name, function in functions.items():
            names.setdefault(function, name)
            if isinstance(owner, OverridableProperty):  # the program may have got it before anything was taken over
                names.setdefault(getattr(owner.inner, function.__name__), name)
    return names


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions that can be taken over, by module or class."""
    return {owner: list(functions.values()) for owner, functions in _overridable_by_owner().items()}


def get_ignored_functions() -> set[Callable]:
    """Public functions that cannot be overridden: they take no tensors, or must see the tensor itself."""
    modules = [import_module(name) for name in MODULES.values()]
    found = {value for module in modules for name in IGNORED if callable(value := vars(module).get(name))}
    return found | {Tensor.as_subclass, Tensor.__new__, Tensor._make_subclass}


def get_testing_overrides() -> dict[Callable, Callable]:
    """For each function a stand-in with the same parameters that returns -1."""
    return {
        function: _stand_in(function) for functions in get_overridable_functions().values() for function in functions
    }


def _stand_in(function: Any) -> Callable:
    def stand_in(*args: Any, **kwargs: Any) -> int:
        return -1

    if isinstance(function, OverridableFunction):
        parameters = signature(function.function)
        shown = [
            each.replace(annotation=each.empty)
            for each in parameters.parameters.values()
            if not each.name.startswith("_")
        ]
        stand_in.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    return stand_in


def get_default_nowrap_functions() -> set[Callable]:
    """The accessors whose results `Tensor.__torch_function__` leaves in the class that they have."""
    begin()
    return {
        vars(Tensor)[name].__get__ for name in ("_base", "grad") if isinstance(vars(Tensor)[name], OverridableProperty)
    }


def resolve_name(function: Any) -> str | None:
    """The full name of a function that can be taken over, None for any other."""
    if isinstance(function, (OpOverload, OpOverloadPacket)):
        return str(function)
    return _names().get(function)


def is_tensor_method_or_property(function: Callable) -> bool:
    """Whether a function is a method of Tensor, or an accessor of one of its properties."""
    return function in _overridable_by_owner()[Tensor].values() or function.__name__ == "__get__"
