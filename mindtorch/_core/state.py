"""What is switched on: per thread (`thread`) and in the process (`active_modes`, the default dtype).

Every generated function reads `state.active_modes` first. It counts the active modes, which is whatever intercepts
calls (dispatch trace, recorded programs, profiler, autocast, modes, `__torch_function__` classes, forward-AD levels,
anomaly mode, saved-tensor hooks, inference mode); in an ordinary program it is 0 and the calls go straight through.
"""

import sys
import threading
from typing import Any

active_modes = 0
grad_everywhere = True  # whether every thread records graphs: quicker to ask than thread.grad_enabled
inference_leaves = 0  # tensors of inference mode that require grad; see `_is_out_of_autograd` of dispatch/dispatcher.py
dispatch_classes = 0  # classes of tensors with a __torch_dispatch__ of their own
batch_levels = 0  # levels of vmap that are alive; see mindtorch._core.batched_array
recorded_passes = 0  # backward passes that run and are recorded themselves (create_graph), in all threads
anomaly_enabled = False
anomaly_check_nan = True
default_dtype: Any = None  # set by mindtorch._core.dtype, which knows the dtypes

_threads_without_grad = 0
_lock = threading.RLock()  # a thread may end, and be counted out, while another one counts


class ThreadState(threading.local):
    """The switches of one thread. Class attributes are the defaults, so a new thread costs nothing."""

    grad_enabled = True
    multithreading_enabled = True
    inference = False
    trace = False
    trace_depth = 0
    dual_levels: tuple = ()  # the open levels of forward AD, innermost last
    dual_level = -1  # the number of the innermost one that ops look at; see Note [Levels] in dispatch/modes/tangents.py
    forward_grad_enabled = True
    jvp_levels = 0  # how many of the open levels are those of torch.func.jvp
    transforms = 0  # how many transforms of torch.func, `vmap` included, are running
    own_tensors: Any = None  # what the function of a transform may write; see mindtorch.dispatch.modes.captures
    differentiated: Any = None  # the tensors of the transform whose backward pass is running
    writable_views = False  # whether that pass makes views as with grad mode, which is off as it need not be recorded
    saved_tensor_hooks: tuple = ()  # (pack, unpack) pairs, innermost last
    saved_tensor_hooks_disabled: Any = None  # the reason, when the hooks are forbidden
    torch_function = True  # whether __torch_function__ of tensor subclasses is looked at
    function_modes: tuple = ()  # TorchFunctionMode objects, innermost last
    torch_dispatch = True  # whether __torch_dispatch__ of modes and tensor subclasses is looked at
    dispatch_modes: tuple = ()  # TorchDispatchMode objects, innermost last
    below_autograd = False  # whether a __torch_dispatch__ runs: nothing is recorded, and views are not tracked
    grad_above = True  # grad mode outside of the __torch_dispatch__ that runs, and as that sees it
    dispatched: Any = None  # the call whose kernel is a __torch_dispatch__; see mindtorch.dispatch.modes.torch_dispatch
    outcome: Any = None  # what that __torch_dispatch__ has answered, as long as the call runs
    default_devices: Any = None  # the stack of default devices; see mindtorch._core.device
    vmap_levels: tuple = ()  # the levels of vmap that are running, innermost last
    passes = 0  # how many backward passes are open; their nodes may have samples of levels that are over
    active = 0  # how many of the modes this thread itself has switched on
    switches: Any = None  # `_Switches`, to be counted out when the thread ends; False for the main one
    grad_layout_enforced = True  # see Note [Gradient layout contract] in mindtorch.autograd._engine.accumulate_grad
    view_replay = False  # whether views of rewritten bases are always taken again by their functions
    autocast: Any = None  # by device, the lower precision that calls are cast to; see mindtorch.dispatch.modes.autocast
    profiler: Any = None  # what takes the times of calls; see mindtorch.profiler
    skip_data = False  # whether files are written and read without the data of their storages
    taking_views_again = False  # whether views are, perhaps with samples of levels that are over among their tensors
    recorder: Any = None  # what writes the calls down; see mindtorch.program
    let_through: Any = None  # the function whose next call the dispatcher makes itself


thread = ThreadState()


class _Switches:
    """What a thread has switched for the process. Goes with the thread, which may end inside of a `no_grad` block."""

    def __init__(self) -> None:
        self.without_grad = 0
        self.active_modes = 0

    def __del__(self, is_finalizing: Any = sys.is_finalizing) -> None:
        global grad_everywhere, _threads_without_grad
        if is_finalizing():  # the module may be empty already
            return
        with _lock:
            _threads_without_grad -= self.without_grad
            grad_everywhere = not _threads_without_grad
        count_active_mode(-self.active_modes)


def _switches() -> Any:
    if thread.switches is None:
        thread.switches = threading.current_thread() is not threading.main_thread() and _Switches()
    return thread.switches


def count_active_mode(change: int) -> None:
    """Count something that looks at calls in every thread, for example a class with `__torch_function__`."""
    global active_modes
    with _lock:
        active_modes += change


def set_grad_enabled(enabled: bool) -> None:
    """Switch the recording of graphs on or off in this thread."""
    global grad_everywhere, _threads_without_grad
    if enabled != thread.grad_enabled:
        thread.grad_enabled = enabled
        with _lock:
            _threads_without_grad += -1 if enabled else 1
            grad_everywhere = not _threads_without_grad
        switches = thread.switches
        if switches is None:
            switches = _switches()
        if switches:
            switches.without_grad = not enabled


def count_recorded_pass(change: int) -> None:
    """Count a backward pass that is recorded: formulas must then stay differentiable."""
    global recorded_passes
    with _lock:
        recorded_passes += change


def count_batch_level(change: int) -> None:
    """Count a level of vmap, whose batched arrays may meet others in any thread."""
    global active_modes, batch_levels
    with _lock:
        active_modes += change
        batch_levels += change


def count_inference_leaf(change: int) -> None:
    """Count a tensor of inference mode that requires grad, which calls may be recorded for, or not."""
    global active_modes, inference_leaves
    with _lock:
        active_modes += change
        inference_leaves += change


def count_thread_mode(change: int) -> None:
    """Count something that looks at the calls of this thread only."""
    thread.active += change
    count_active_mode(change)
    switches = _switches()
    if switches:
        switches.active_modes += change


def set_anomaly(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode, which holds for all threads."""
    global anomaly_enabled, anomaly_check_nan
    if enabled != anomaly_enabled:
        count_active_mode(1 if enabled else -1)
    anomaly_enabled = enabled
    anomaly_check_nan = check_nan
