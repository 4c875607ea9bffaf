"""`__torch_function__`: tensor subclasses and modes that take over calls."""

from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import Any

from mindtorch import state
from mindtorch.dispatch.namespace import public_function
from mindtorch.tensor import Tensor

_thread = state.thread


def disabled_torch_function(function: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
    """The `__torch_function__` of classes that are treated as plain tensors (`Parameter`)."""
    with without_torch_function():
        return function(*args, **(kwargs or {}))


@contextmanager
def without_torch_function() -> Any:
    """In this block tensor subclasses are treated as plain tensors."""
    before = _thread.torch_function
    _thread.torch_function = False
    try:
        yield
    finally:
        _thread.torch_function = before


def takes_over(cls: type) -> bool:
    """Whether calls with an argument of this class go to its `__torch_function__`."""
    if cls is Tensor:
        return False
    return getattr(cls, "__torch_function__", disabled_torch_function) is not disabled_torch_function


def overriding_arguments(args: Iterable[Any]) -> list[Any]:
    """One argument of each class that takes over calls: subclasses first, otherwise in the order of the arguments."""
    found: list[Any] = []
    for value in _leaves(args):
        cls = type(value)
        if takes_over(cls) and all(type(other) is not cls for other in found):
            before = (place for place, other in enumerate(found) if issubclass(cls, type(other)))
            found.insert(next(before, len(found)), value)
    return found


def _leaves(args: Iterable[Any]) -> Iterable[Any]:
    for value in args:
        if isinstance(value, (tuple, list)):
            yield from _leaves(value)
        else:
            yield value


def has_torch_function(args: Iterable[Any]) -> bool:
    """Whether a call with these arguments goes to a `__torch_function__`."""
    return _thread.torch_function and (bool(_thread.function_modes) or bool(overriding_arguments(args)))


def handle_torch_function(function: Callable, overriders: list[Any], args: tuple, kwargs: dict) -> Any:
    """Ask the innermost mode, then the classes of the arguments, until one of them answers."""
    defaults = function.__kwdefaults__ or {}
    kwargs = {name: value for name, value in kwargs.items() if name not in defaults or value is not defaults[name]}
    function = public_function(function)
    types = tuple(type(value) for value in overriders)
    modes = _thread.function_modes
    if modes:
        _thread.function_modes = modes[:-1]
        try:
            result = modes[-1].__torch_function__(function, types, args, kwargs)
        finally:
            _thread.function_modes = modes
        if result is not NotImplemented:
            return result
    for value in overriders:
        result = value.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise _nobody_answers(function, types, modes)


def _nobody_answers(function: Callable, types: tuple, modes: tuple) -> TypeError:
    lines = [f"  - mode object {modes[-1]}"] if modes else []
    lines += [f"  - tensor subclass {cls}" for cls in types]
    return TypeError(
        f"Multiple dispatch failed for 'torch.{function.__name__}'; all __torch_function__ handlers returned "
        "NotImplemented:\n\n" + "\n".join(lines) + "\n\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )


class TorchFunctionMode:
    """A context manager that sees all calls of a block in its `__torch_function__`."""

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> "TorchFunctionMode":
        _thread.function_modes += (self,)
        state.count_thread_interceptor(1)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _thread.function_modes = _thread.function_modes[:-1]
        state.count_thread_interceptor(-1)
