"""Backward passes inside backward passes, to any depth.

A hook or a Function's backward may run a backward pass of its own (checkpointing does), which may do the same. Each
takes several Python frames; when many are open, the next one runs in a thread of its own, which has a fresh stack.
"""

import threading
from collections.abc import Callable
from typing import Any

from mindtorch._core import state

_thread = state.thread

_MAX_DEPTH = 60  # passes in one thread; at about 8 frames each that is half of Python's default recursion limit


def is_running() -> bool:
    """Whether a backward pass is open in this thread."""
    return _thread.passes > 0


def run_nested(function: Callable[[], Any]) -> Any:
    """Call a function that runs a backward pass; in a new thread if this one is full."""
    if _thread.passes >= _MAX_DEPTH:
        return _call_in_new_thread(function)
    _thread.passes += 1
    try:
        return function()
    finally:
        _thread.passes -= 1


def _call_in_new_thread(function: Callable[[], Any]) -> Any:
    """Call a function in a thread that has the same modes switched on, and wait for it."""
    modes = dict(vars(_thread))
    modes.pop("switches", None)
    modes["passes"] = 0
    grad_enabled = modes.pop("grad_enabled", True)
    outcome: dict[str, Any] = {}

    def work() -> None:
        vars(_thread).update(modes)
        state.set_grad_enabled(grad_enabled)
        try:
            outcome["result"] = run_nested(function)
        except BaseException as error:  # noqa: BLE001 (raised again in the thread that waits)
            outcome["error"] = error
        finally:
            state.set_grad_enabled(True)  # the thread ends, and no longer counts as one that does not record

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]
