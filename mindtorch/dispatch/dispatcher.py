"""The path of an intercepted call.

A generated function asks `intercepts` when anything in the process is switched on, and hands the call to `call` if so.
`call` goes through the layers in order and in the end calls the same function again, this time let through.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from mindtorch._core import state
from mindtorch._core.autograd_meta import note_inference_leaf
from mindtorch._core.tensor import Tensor, autograd_meta
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.dispatch.methods import is_method, is_operator
from mindtorch.dispatch.modes import anomaly, autocast, batching, debug, torch_dispatch, trace
from mindtorch.dispatch.modes.captures import check_write, is_written_unrecorded, recording, seen_inside
from mindtorch.dispatch.modes.forward_ad import call_with_tangents, has_tangents
from mindtorch.dispatch.modes.views_from_no_grad import note_views
from mindtorch.dispatch.parameters import parameters_of
from mindtorch.dispatch.registry import NUMBERS, OpEntry
from mindtorch.dispatch.torch_function import handle_torch_function, has_torch_function, overriding_arguments

_thread = state.thread


def intercepts(function: Callable, *args: Any) -> bool:
    """Whether a call has to go through `call`: something is on for this thread, and it isn't `call` that calls."""
    if _thread.let_through is function:
        _thread.let_through = None
        return False
    if _thread.active or state.anomaly_enabled or debug.ON or trace.is_on() or has_torch_function(args):
        return True
    if state.inference_leaves and _thread.grad_enabled:
        return True
    if state.batch_levels or (state.dispatch_classes and torch_dispatch.is_wanted(args)):
        return True
    return _thread.below_autograd and function.op.view is not None  # type: ignore[attr-defined]


def looks_inside(*args: Any) -> bool:
    """Whether what a composite op is made of has to be seen: by forward mode, modes, records of calls."""
    if _thread.dual_level >= 0 or trace.is_on():
        return True
    return _thread.recorder is not None or bool(_thread.function_modes) or torch_dispatch.is_wanted(args)


def call(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """Run a call through `__torch_function__`, autocast, recorder, trace, forward AD, inference and anomaly mode."""
    if _thread.torch_function or _thread.function_modes:
        overriders = overriding_arguments((*args, *kwargs.values()))
        if overriders or _thread.function_modes:
            return handle_torch_function(function, overriders, args, kwargs)
    run = _call_traced if trace.is_on() else _call_autograd
    if _thread.profiler is not None:
        run = partial(_thread.profiler.timed, run)
    recorder = _thread.recorder
    try:
        if _thread.autocast is not None:
            policies = function.op.autocast  # type: ignore[attr-defined]
            device_type = policies and autocast.device_meant(policies, args, kwargs)
            if device_type:
                return autocast.call_autocast(device_type, policies[device_type], function, args, kwargs)
        return run(function, args, kwargs) if recorder is None else recorder.recorded(run, function, args, kwargs)
    except TypeError:
        if is_operator(function):
            return NotImplemented  # as torch's operators do, so that Python asks the other operand
        raise


def call_with(function: Callable, values: dict[str, Any]) -> Any:
    """The same for a function of many parameters. `values`: what these stand for."""
    args, kwargs = parameters_of(function).passed(values)
    values.clear()  # no more references to tensors than in other calls: autograd counts them
    return call(function, *args, **kwargs)


def _call_traced(function: Callable, args: tuple, kwargs: dict) -> Any:
    return trace.traced(_call_autograd, _form_called(function, kwargs), args, kwargs)


def _call_autograd(function: Callable, args: tuple, kwargs: dict) -> Any:
    function = _form_called(function, kwargs)
    entry = function.op  # type: ignore[attr-defined]
    if _thread.own_tensors is not None and (entry.is_inplace or not entry.composite):
        for target in tensors_among(entry.written(args)):
            check_write(entry, target, args)
    if entry.composite:
        is_recorded = not (_thread.inference and _thread.grad_enabled)  # which it may be as one node
        result = (_let_through if is_recorded else _unrecorded)(function, args, kwargs)
        return result if _thread.own_tensors is None else seen_inside(entry, result, args, kwargs)
    if _thread.own_tensors is None:
        return _call_in_mode(function, args, kwargs)
    tensors = tensors_among((*args, *kwargs.values()))
    if is_written_unrecorded(entry, tensors):
        return _unrecorded(function, args, kwargs)
    with recording(tensors):
        return _call_in_mode(function, args, kwargs)


def _form_called(function: Callable, kwargs: dict) -> Callable:
    """The `out=` form, which is an op of its own, if the function of an op was given `out`. Methods take none."""
    if kwargs.get("out") is None or is_method(function):
        return function
    return getattr(function, "out_form", function)


def _call_in_mode(function: Callable, args: tuple, kwargs: dict) -> Any:
    entry = function.op  # type: ignore[attr-defined]
    if _sees_tangents() and has_tangents((*args, *kwargs.values())):
        result = call_with_tangents(_call_autograd, function, args, kwargs)
    elif _thread.inference:
        result = _call_in_inference(function, args, kwargs)
    elif state.inference_leaves and _is_out_of_autograd(entry, args, kwargs):
        result = _unrecorded(function, args, kwargs)
    else:
        result = _let_through(function, args, kwargs)
    if _thread.grad_enabled and (_thread.own_tensors is not None or _thread.differentiated is not None):
        note_views((*args, *kwargs.values()), result)
    if state.anomaly_enabled:
        anomaly.note_forward(result)
    if _thread.below_autograd and entry.view is not None:
        torch_dispatch.forget_views(result)
    return result


def _sees_tangents() -> bool:
    """Whether ops compute tangents: not in inference mode. Transforms leave it, so that it is one inside of them."""
    return _thread.dual_level >= 0 and _thread.forward_grad_enabled and not _thread.inference


def _let_through(function: Callable, args: tuple, kwargs: dict) -> Any:
    if debug.ON and not function.op.composite:  # type: ignore[attr-defined]
        return debug.checked(_below, function, args, kwargs)
    return _below(function, args, kwargs)


def _below(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Run a call, in a `__torch_dispatch__` if there is one for it."""
    run = torch_dispatch.runner(function.op, (*args, *kwargs.values()))  # type: ignore[attr-defined]
    if trace.is_on():
        trace.show_kernel(function, args, kwargs, run is not None)
    return _called(function, args, kwargs) if run is None else run(_called, function, args, kwargs)


def _called(function: Callable, args: tuple, kwargs: dict) -> Any:
    return batching.call_batched(_run, function, args, kwargs) if state.batch_levels else _run(function, args, kwargs)


def _run(function: Callable, args: tuple, kwargs: dict) -> Any:
    _thread.let_through = getattr(function, "functional", function)  # which the code of an `out=` form calls itself
    try:
        return function(*args, **kwargs)
    finally:
        _thread.let_through = None


def _call_in_inference(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Nothing is recorded in inference mode, not even within `enable_grad`."""
    result = _unrecorded(function, args, kwargs)
    _mark_inference(result, (*args, *kwargs.values()))
    return result


def _unrecorded(function: Callable, args: tuple, kwargs: dict) -> Any:
    grad_enabled = _thread.grad_enabled
    state.set_grad_enabled(False)
    try:
        return _let_through(function, args, kwargs)
    finally:
        state.set_grad_enabled(grad_enabled)


def _is_out_of_autograd(entry: OpEntry, args: tuple, kwargs: dict) -> bool:
    """Whether autograd does not see a call, outside of inference mode, because all its tensors are of that mode.

    One of them may require grad all the same, which counts beside an ordinary tensor or a number that stands for one.
    A copy is made by writing to an ordinary tensor.
    """
    tensors = tensors_among((*args, *kwargs.values()))
    if entry.copies or not tensors or not all([tensor.is_inference() for tensor in tensors]):
        return False
    arguments = entry.schema.arguments
    given = {each.name: value for each, value in zip(arguments, args)} | kwargs
    return not any(each.element == "Tensor" and type(given.get(each.name)) in NUMBERS for each in arguments)


def _mark_inference(result: Any, args: Iterable[Any]) -> None:
    """Tensors that are made in inference mode stay outside of autograd; inputs and views of them stay what they are."""
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(tensor, Tensor) and not tensor._is_view() and not _is_one_of(tensor, args):
            meta = autograd_meta(tensor)
            meta.inference = True
            if _thread.own_tensors is not None:
                _thread.own_tensors.of_inference.add(tensor)
            if meta.requires_grad:
                note_inference_leaf(meta)


def _is_one_of(tensor: Tensor, args: Iterable[Any]) -> bool:
    """Whether a result is an argument, or an ordinary argument seen again (`detach`): they share their version."""
    counter = tensor._mt_version
    return any(
        value is tensor
        or (counter is not None and getattr(value, "_mt_version", None) is counter and not value.is_inference())
        for value in args
    )
