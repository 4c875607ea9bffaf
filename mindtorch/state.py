"""What is switched on: per thread (`thread`) and in the process (`interceptors`, the default dtype).

Every generated function reads `state.interceptors` first. It counts whatever needs to look at calls (dispatch trace,
recorded programs, modes, `__torch_function__` classes, forward-AD levels, anomaly mode, saved-tensor hooks, inference
mode); in an ordinary program it is 0 and the calls go straight through.
"""

import threading
from typing import Any

interceptors = 0
grad_everywhere = True  # whether every thread records graphs: quicker to ask than thread.grad_enabled
recorded_passes = 0  # backward passes that run and are recorded themselves (create_graph), in all threads
anomaly_enabled = False
anomaly_check_nan = True
default_dtype: Any = None  # set by mindtorch.dtype, which knows the dtypes

_threads_without_grad = 0
_lock = threading.Lock()


class ThreadState(threading.local):
    """The switches of one thread. Class attributes are the defaults, so a new thread costs nothing."""

    grad_enabled = True
    multithreading_enabled = True
    inference = False
    trace = False
    trace_depth = 0
    dual_level = -1  # the innermost open forward-AD level; -1 when there is none
    forward_grad_enabled = True
    saved_tensor_hooks: tuple = ()  # (pack, unpack) pairs, innermost last
    saved_tensor_hooks_disabled: Any = None  # the reason, when the hooks are forbidden
    torch_function = True  # whether __torch_function__ of tensor subclasses is looked at
    function_modes: tuple = ()  # TorchFunctionMode objects, innermost last
    default_devices: Any = None  # the stack of default devices; see mindtorch.device
    active = 0  # how many interceptors this thread itself has switched on
    recorder: Any = None  # what writes the calls down; see mindtorch.program
    let_through: Any = None  # the function whose next call the dispatcher makes itself


thread = ThreadState()


def count_interceptor(change: int) -> None:
    """Count something that looks at calls in every thread, for example a class with `__torch_function__`."""
    global interceptors
    with _lock:
        interceptors += change


def set_grad_enabled(enabled: bool) -> None:
    """Switch the recording of graphs on or off in this thread."""
    global grad_everywhere, _threads_without_grad
    if enabled != thread.grad_enabled:
        thread.grad_enabled = enabled
        with _lock:
            _threads_without_grad += -1 if enabled else 1
            grad_everywhere = not _threads_without_grad


def count_recorded_pass(change: int) -> None:
    """Count a backward pass that is recorded: formulas may then not take short cuts past autograd."""
    global recorded_passes
    with _lock:
        recorded_passes += change


def count_thread_interceptor(change: int) -> None:
    """Count something that looks at the calls of this thread only."""
    thread.active += change
    count_interceptor(change)


def set_anomaly(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode, which holds for all threads."""
    global anomaly_enabled, anomaly_check_nan
    if enabled != anomaly_enabled:
        count_interceptor(1 if enabled else -1)
    anomaly_enabled = enabled
    anomaly_check_nan = check_nan
