"""The dispatch trace: a line on stderr for every op that is called, and one for its kernel, indented by depth.

Shown when MINDTORCH_SHOW_DISPATCH_TRACE=1, or inside `with show_dispatch_trace():`.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core import state
from mindtorch._core.device import device as Device
from mindtorch._core.device import get_default_device
from mindtorch._core.tensor import Tensor
from mindtorch._support.op_names import qualified
from mindtorch.dispatch.keys import key_of, key_of_device
from mindtorch.dispatch.registry import OpEntry

_thread = state.thread
_everywhere = os.environ.get("MINDTORCH_SHOW_DISPATCH_TRACE") == "1"
if _everywhere:
    state.count_active_mode(1)


def is_on() -> bool:
    return _everywhere or _thread.trace


@contextmanager
def show_dispatch_trace() -> Iterator[None]:
    """Print the ops that this thread calls in the block."""
    before = _thread.trace
    _thread.trace = True
    state.count_thread_mode(1)
    try:
        yield
    finally:
        _thread.trace = before
        state.count_thread_mode(-1)


def traced(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Print the line of a call, then `run` it one level deeper."""
    depth = _thread.trace_depth
    key = _key(args, autograd=not _thread.inference)
    _print_line("call", function, key or "BackendSelect")  # a factory has no tensor that tells the backend
    _thread.trace_depth = depth + 1
    try:
        return run(function, args, kwargs)
    finally:
        _thread.trace_depth = depth


def show_kernel(function: Callable, args: tuple, kwargs: dict, in_python: bool) -> None:
    """Print that a call goes on to the kernel of a backend, or `in_python` to a `__torch_dispatch__`.

    In inference mode it has gone there at once.
    """
    if _entry_of(function).composite or _becomes_out_call(function, kwargs):
        return
    key = _key(args, autograd=False)
    if in_python:
        _print_line("redispatch", function, "Python")
    elif key is None or not _thread.inference:
        _print_line("redispatch", function, key or _key_of_factory(kwargs.get("device")))


def _entry_of(function: Any) -> OpEntry:
    entry: OpEntry = function.op
    return entry


def _becomes_out_call(function: Callable, kwargs: dict) -> bool:
    """Whether the op goes on to its out= form, which is another op."""
    return kwargs.get("out") is not None and "!" not in _entry_of(function).schema_text


def _print_line(word: str, function: Callable, key: str) -> None:
    sys.stderr.write(f"{' ' * _thread.trace_depth}[{word}] op=[{qualified(_entry_of(function).name)}], key=[{key}]\n")


def _key(args: tuple, autograd: bool) -> str | None:
    """The key of the first tensor; None when there is none."""
    for value in args:
        if isinstance(value, (list, tuple)) and value:
            value = value[0]
        if isinstance(value, Tensor):
            return key_of(value._mt_array, autograd)
    return None


def _key_of_factory(device: Any) -> str:
    return key_of_device((get_default_device() if device is None else Device(device)).type)
