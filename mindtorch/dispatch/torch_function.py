"""`__torch_function__`: tensor subclasses and modes that take over calls.

Calls get here in two ways: from the public functions, methods and properties, as soon as anything is overridden
(see mindtorch._functions.overridable), and from generated functions that the program got hold of before that.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch._support.warnings import warn
from mindtorch.dispatch.namespace import public_function
from mindtorch.dispatch.parameters import parameters_of

_thread = state.thread
_waiting: list[Callable[[], None]] = []
# What the program sees of a function, by the function, as soon as anything is taken over
# (mindtorch._functions.overridable).
seen_as: dict[Any, Callable] = {}


def when_first_used(action: Callable[[], None]) -> None:
    """Run `action` before the first mode or class with `__torch_function__` is there."""
    _waiting.append(action)


def begin() -> None:
    """To be called when there is a mode or a class that takes over calls."""
    while _waiting:
        _waiting.pop()()


_known: set[type] = set()  # classes that take over calls without being tensors, of those that were seen


def begin_with(overriders: Iterable[Any]) -> None:
    """The same for objects that are no tensors: their classes are unknown before one is in a call."""
    for value in overriders:
        cls = type(value)
        if cls not in _known and not isinstance(value, Tensor):
            _known.add(cls)
            begin()
            state.count_active_mode(1)


def disabled_torch_function(function: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
    """The `__torch_function__` of classes that are treated as plain tensors (`Parameter`)."""
    with without_torch_function():
        return function(*args, **(kwargs or {}))


@contextmanager
def without_torch_function() -> Any:
    """In this block tensor subclasses are treated as plain tensors; modes still see calls."""
    before = _thread.torch_function
    _thread.torch_function = False
    try:
        yield
    finally:
        _thread.torch_function = before


@contextmanager
def without_torch_function_and_modes() -> Any:
    """In this block nothing takes over calls."""
    modes = _thread.function_modes
    _thread.function_modes = ()
    try:
        with without_torch_function():
            yield
    finally:
        _thread.function_modes = modes


_PLAIN = frozenset((Tensor, int, float, bool, complex, str, type(None)))  # classes that take over nothing


def takes_over(cls: type) -> bool:
    """Whether calls with an argument of this class go to its `__torch_function__`."""
    if cls is Tensor:
        return False
    function = getattr(cls, "__torch_function__", disabled_torch_function)
    return function is not disabled_torch_function and not _is_of_pytorch(function)


def _is_of_pytorch(function: Any) -> bool:
    """Whether a `__torch_function__` is the default of the tensors of PyTorch itself, where that is imported, too.

    It would call the function again, with the tensor that it does not know how to handle.
    """
    other = getattr(sys.modules.get("torch"), "Tensor", Tensor)
    return other is not Tensor and getattr(function, "__func__", None) is other.__torch_function__.__func__  # type: ignore[union-attr]


def overriding_arguments(args: Iterable[Any]) -> list[Any]:
    """One argument of each class that takes over calls: subclasses first, otherwise in the order of the arguments."""
    return in_order(_overriders(args)) if _thread.torch_function else []


def _overriders(args: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in args:
        cls = type(value)
        if cls in _PLAIN:
            continue
        if isinstance(value, (tuple, list)):
            found += _overriders(value)
        elif takes_over(cls):
            found.append(value)
    return found


def in_order(values: Iterable[Any]) -> list[Any]:
    """One value of each class: subclasses first, otherwise in their order."""
    found: list[Any] = []
    for value in values:
        cls = type(value)
        if all(type(other) is not cls for other in found):
            before = (place for place, other in enumerate(found) if issubclass(cls, type(other)))
            found.insert(next(before, len(found)), value)
    return found


def has_torch_function(args: Iterable[Any]) -> bool:
    """Whether a call with these arguments goes to a `__torch_function__`."""
    if _thread.function_modes:
        return True
    return _thread.torch_function and bool(_overriders(args))


def handle_torch_function(function: Callable, overriders: list[Any], args: tuple, kwargs: dict) -> Any:
    """Take over a call of a generated function, whose arguments are as its code passes them on."""
    parameters = parameters_of(function)
    kwargs = {name: value for name, value in kwargs.items() if not parameters.is_default(name, value)}
    function = public_function(function)
    answer = ask(seen_as.get(function, function), overriders, args, kwargs)
    if answer is NotImplemented:
        raise multiple_dispatch_failed(f"torch.{function.__name__}", overriders)
    return answer


def ask(function: Callable, overriders: Sequence[Any], args: tuple, kwargs: dict | None) -> Any:
    """Ask the innermost mode, then the classes of the arguments, until one of them answers.

    `None` for the keywords: as torch, where it is written in C, they are not passed if there are none.
    """
    types = tuple(type(value) for value in overriders)
    given = (function, types, args) if kwargs is None else (function, types, args, kwargs)
    modes = _thread.function_modes
    if modes:
        _thread.function_modes = modes[:-1]
        try:
            answer = modes[-1].__torch_function__(*given)
        finally:
            _thread.function_modes = modes
        if answer is not NotImplemented:
            return answer
    for value in overriders:
        answer = value.__torch_function__(*given)
        if answer is not NotImplemented:
            return answer
    return NotImplemented


def multiple_dispatch_failed(name: str, overriders: Sequence[Any]) -> TypeError:
    return errors.multiple_dispatch_failed(name, "__torch_function__", _thread.function_modes, map(type, overriders))


def no_implementation(name: str, overriders: Sequence[Any]) -> TypeError:
    """The same, of what torch has written in Python."""
    modes = _thread.function_modes
    mode = f" nor in mode {modes[-1]}" if modes else ""
    types = [type(value) for value in overriders]
    return TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {types}{mode}")


class TorchFunctionMode:
    """A context manager that sees all calls of a block in its `__torch_function__`.

    While that runs, calls go to the mode around it.
    """

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        begin()
        _thread.function_modes += (self,)
        state.count_thread_mode(1)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _thread.function_modes = _thread.function_modes[:-1]
        state.count_thread_mode(-1)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> "TorchFunctionMode":
        """What was once needed to make a mode."""
        message = "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`"
        warn(message, UserWarning)
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """The mode that only calls."""

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))
