"""The dispatch trace: a line on stderr for every op that is called, indented by depth.

Shown when MINDTORCH_SHOW_DISPATCH_TRACE=1, or inside `with show_dispatch_trace():`.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch import state
from mindtorch.dispatch.keys import key_of
from mindtorch.op_names import qualified
from mindtorch.tensor import Tensor

_thread = state.thread
_everywhere = os.environ.get("MINDTORCH_SHOW_DISPATCH_TRACE") == "1"
if _everywhere:
    state.count_interceptor(1)


def is_on() -> bool:
    return _everywhere or _thread.trace


@contextmanager
def show_dispatch_trace() -> Iterator[None]:
    """Print the ops that this thread calls in the block."""
    before = _thread.trace
    _thread.trace = True
    state.count_thread_interceptor(1)
    try:
        yield
    finally:
        _thread.trace = before
        state.count_thread_interceptor(-1)


def traced(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Print the line of a call, then `run` it one level deeper."""
    depth = _thread.trace_depth
    sys.stderr.write(f"{' ' * depth}[call] op=[{qualified(function.op.name)}], key=[{_key(args)}]\n")
    _thread.trace_depth = depth + 1
    try:
        return run(function, args, kwargs)
    finally:
        _thread.trace_depth = depth


def _key(args: tuple) -> str:
    for value in args:
        if isinstance(value, (list, tuple)) and value:
            value = value[0]
        if isinstance(value, Tensor):
            return key_of(value._array, autograd=not _thread.inference)
    return "BackendSelect"  # a factory: nothing among the arguments tells the backend
