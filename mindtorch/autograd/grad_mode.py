"""Grad mode and inference mode: per thread, as context managers, decorators and plain functions."""

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeVar, overload

from mindtorch._core import state
from mindtorch._support import errors
from mindtorch._support.warnings import warn

_thread = state.thread
F = TypeVar("F", bound=Callable)
Context = TypeVar("Context", bound="ModeContext")


_DECORATED_CLASS = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
    "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
    "and nothing else."
)


class ModeContext:
    """A context manager that also decorates functions, generator functions included."""

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            warn(_DECORATED_CLASS, FutureWarning)
        if inspect.isgeneratorfunction(function):
            return _decorate_generator(self._again, function)
        again = self._again

        @functools.wraps(function)
        def in_mode(*args: Any, **kwargs: Any) -> Any:
            with again():
                return function(*args, **kwargs)

        return in_mode  # type: ignore[return-value]

    def _again(self) -> "ModeContext":
        """A fresh context of the same kind: a decorated function may be called recursively and in several threads."""
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exception: Any) -> None:
        raise NotImplementedError


def _decorate_generator(context: Callable, function: Callable) -> Any:
    """Run a generator in the mode, while the code that consumes it stays out of it."""

    @functools.wraps(function)
    def in_mode(*args: Any, **kwargs: Any) -> Generator:
        generator = function(*args, **kwargs)
        with context():
            try:
                value = next(generator)
            except StopIteration as finished:
                return finished.value
        return (yield from _continue_in_mode(context, generator, value))

    return in_mode


def _continue_in_mode(context: Callable, generator: Generator, value: Any) -> Generator:
    while True:
        try:
            sent = yield value
        except GeneratorExit:
            with context():
                generator.close()
            raise
        except BaseException as error:  # noqa: BLE001 (whatever it is, it is the generator's to handle)
            resume: Callable = functools.partial(generator.throw, error)
        else:
            resume = functools.partial(generator.send, sent)
        with context():
            try:
                value = resume()
            except StopIteration as finished:
                return finished.value


class PlainModeContext(ModeContext):
    """A mode without arguments: `no_grad(function)` means `no_grad()(function)`."""

    @overload
    def __new__(cls: type[Context], function: None = None) -> Context: ...
    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)


def is_grad_enabled() -> bool:
    """Grad mode as the program has set it. A `__torch_dispatch__` sees it, too, though nothing is recorded there."""
    return _thread.grad_above if _thread.below_autograd else _thread.grad_enabled


def _set_grad_mode(enabled: bool) -> None:
    if _thread.below_autograd:
        _thread.grad_above = enabled
    else:
        state.set_grad_enabled(enabled)


class no_grad(PlainModeContext):
    """Switch the recording of graphs off."""

    def __enter__(self) -> None:
        self.previous = is_grad_enabled()
        _set_grad_mode(False)

    def __exit__(self, *exception: Any) -> None:
        _set_grad_mode(self.previous)


class enable_grad(PlainModeContext):
    """Switch the recording of graphs on, inside no_grad or set_grad_enabled(False)."""

    def __enter__(self) -> None:
        self.previous = is_grad_enabled()
        _set_grad_mode(True)

    def __exit__(self, *exception: Any) -> None:
        _set_grad_mode(self.previous)


class set_grad_enabled(ModeContext):
    """Switch the recording of graphs on or off at once; a `with` block switches it back at its end."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise errors.argument_type("set_grad_enabled", "enabled", 1, "bool", mode)
        self.previous = is_grad_enabled()
        self.mode = mode
        _set_grad_mode(mode)

    def __call__(self, function: F) -> F:
        _set_grad_mode(self.previous)  # as a decorator it is about the function only
        return super().__call__(function)

    def _again(self) -> "set_grad_enabled":
        return type(self)(self.mode)

    def __enter__(self) -> None:
        _set_grad_mode(self.mode)

    def __exit__(self, *exception: Any) -> None:
        _set_grad_mode(self.previous)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(ModeContext):
    """no_grad and more: tensors that are made inside stay outside of autograd for good."""

    @overload
    def __new__(cls: type[Context], mode: bool = True) -> Context: ...
    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def _again(self) -> "inference_mode":
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self.previous = _thread.inference, is_grad_enabled()
        set_inference(self.mode)
        _set_grad_mode(not self.mode)

    def __exit__(self, *exception: Any) -> None:
        inference, grad_enabled = self.previous
        _set_grad_mode(grad_enabled)
        set_inference(inference)


def set_inference(enabled: bool) -> None:
    """Turn inference mode on or off, and leave grad mode as it is."""
    if enabled != _thread.inference:
        _thread.inference = enabled
        state.count_thread_mode(1 if enabled else -1)


class set_multithreading_enabled(ModeContext):
    """Accepted for torch's sake: one thread runs the backward pass here."""

    def __init__(self, mode: bool) -> None:
        self.previous = _thread.multithreading_enabled
        self.mode = mode
        _thread.multithreading_enabled = mode

    def _again(self) -> "set_multithreading_enabled":
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        _thread.multithreading_enabled = self.previous


class enforce_grad_layout_policy(ModeContext):
    """Whether a first gradient with other strides than its leaf has is copied, and a stored one is warned of."""

    def __init__(self, enable: bool = True) -> None:
        if not isinstance(enable, bool):
            raise errors.argument_type("set_grad_layout_enforcement_enabled", "enabled", 1, "bool", enable)
        self.previous = _thread.grad_layout_enforced
        self.mode = enable
        _thread.grad_layout_enforced = enable

    def __call__(self, function: F) -> F:
        _thread.grad_layout_enforced = self.previous
        return super().__call__(function)

    def _again(self) -> "enforce_grad_layout_policy":
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        _thread.grad_layout_enforced = self.previous


class _force_original_view_tracking(ModeContext):
    """Whether a view whose base was written is always taken again by its own functions, never by strides."""

    def __init__(self, mode: bool) -> None:
        self.previous = _thread.view_replay
        self.mode = mode
        _thread.view_replay = mode

    def __call__(self, function: F) -> F:
        _thread.view_replay = self.previous
        return super().__call__(function)

    def _again(self) -> "_force_original_view_tracking":
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        _thread.view_replay = self.previous


def is_multithreading_enabled() -> bool:
    return _thread.multithreading_enabled


def is_view_replay_enabled() -> bool:
    return _thread.view_replay


def is_inference_mode_enabled() -> bool:
    return _thread.inference
