"""The names of `torch.jit`. There is no compiler: what would be compiled runs as the Python that it is."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

__all__ = [
    "Final", "annotate", "export", "ignore", "is_scripting", "is_tracing", "script", "script_if_tracing", "unused"
]  # fmt: skip

Program = TypeVar("Program")


def script(
    obj: Program,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Program:
    """The function, class or module itself."""
    return obj


def script_if_tracing(fn: Program) -> Program:
    """The function itself."""
    return fn


def export(fn: Program) -> Program:
    """The function itself."""
    return fn


def unused(fn: Program) -> Program:
    """The function itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself; a decorator, with or without arguments."""
    return drop if isinstance(drop, Callable) else lambda fn: fn


def annotate(the_type: Any, the_value: Program) -> Program:
    """The value itself."""
    return the_value


def is_scripting() -> bool:
    return False


def is_tracing() -> bool:
    return False
