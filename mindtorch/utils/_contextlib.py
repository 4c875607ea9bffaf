"""Context managers that also decorate functions, for classes of programs that are to do so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mindtorch.autograd.grad_mode import ModeContext, PlainModeContext

Function = TypeVar("Function", bound=Callable[..., Any])


class _DecoratorContextManager(ModeContext):
    """A context manager that decorates functions and generator functions: each call enters a clone of it."""

    def clone(self) -> Any:
        """Another one of the same kind. Classes whose objects are made with arguments give them on."""
        return type(self)()

    def _again(self) -> Any:
        return self.clone()


class _NoParamDecoratorContextManager(PlainModeContext, _DecoratorContextManager):
    """The same without arguments: `manager(function)` decorates as `manager()(function)` does."""


def context_decorator(ctx: Any, func: Function) -> Function:
    """A function that runs in a context manager: the given one, or one that `ctx()` makes for each call."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it ambiguous "
            "which interface to use.  If you intended to pass a context manager factory, rewrite your call as "
            "context_decorator(lambda: ctx()); if you intended to pass a context manager directly, rewrite your call "
            "as context_decorator(lambda: ctx)"
        )
    return _Made(ctx if callable(ctx) else lambda: ctx)(func)


class _Made(ModeContext):
    def __init__(self, make: Callable[[], Any]) -> None:
        self._again = make  # type: ignore[method-assign]
