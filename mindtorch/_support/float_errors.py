"""Floating-point warnings off, without touching NumPy's error state and at the price of one method call.

NumPy keeps its error state in a context variable. `_context` is a context in which the state is 'ignore'; a function
run in it divides by zero silently, whatever the caller's `np.seterr` says. Entering it costs 40 ns, `np.errstate` 1 us.
"""

import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")

_context = contextvars.Context()
_context.run(np.seterr, all="ignore")

# For hot paths: raises RuntimeError when the context is already entered, by another thread or further up the stack.
run_quietly = _context.run


class _OwnContext(threading.local):
    """A quiet context for one thread only."""

    def __init__(self) -> None:
        self.context = contextvars.Context()
        self.context.run(np.seterr, all="ignore")


_own = _OwnContext()


def quiet(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """`function(*args, **kwargs)` with NumPy's floating-point warnings off."""
    try:
        return run_quietly(function, *args, **kwargs)
    except RuntimeError as error:
        if not _is_entered(error):
            raise
    return _quiet_in_this_thread(function, *args, **kwargs)


def _quiet_in_this_thread(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    try:
        return _own.context.run(function, *args, **kwargs)
    except RuntimeError as error:
        if not _is_entered(error):
            raise
    return function(*args, **kwargs)  # this thread's own context is entered, so everything is quiet already


def _is_entered(error: RuntimeError) -> bool:
    return "cannot enter context" in str(error)
