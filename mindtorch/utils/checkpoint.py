"""Checkpointing: backward runs a function again instead of keeping what it saved, which trades time for memory.

There are two ways. With `use_reentrant=True` the function is one node (`CheckpointFunction`), whose backward runs the
function and a backward pass of its own. Otherwise the function is recorded as always, but for the saved tensors; see
mindtorch.utils.recomputation.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from mindtorch._core.device import get_default_device
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.amp.autocast_mode import AutocastAsItIs
from mindtorch.autograd._engine.engine import backward
from mindtorch.autograd._engine.execution import running
from mindtorch.autograd._engine.saved_hooks import saved_tensors_hooks
from mindtorch.autograd.function import Function
from mindtorch.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from mindtorch.nn.modules.container import Sequential
from mindtorch.random import states_now, with_states
from mindtorch.utils.checkpoint_log import RunLogs
from mindtorch.utils.recomputation import CheckpointError as CheckpointError
from mindtorch.utils.recomputation import Frame
from mindtorch.utils.recomputation import GraphExecGroup as GraphExecGroup
from mindtorch.utils.selective_checkpoint import SAC_IGNORED_OPS as SAC_IGNORED_OPS
from mindtorch.utils.selective_checkpoint import CheckpointPolicy as CheckpointPolicy
from mindtorch.utils.selective_checkpoint import SelectiveCheckpointContext as SelectiveCheckpointContext
from mindtorch.utils.selective_checkpoint import (
    create_selective_checkpoint_contexts as create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "GraphExecGroup",
    "SAC_IGNORED_OPS",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class Overrides:
    """What the context managers of this module have set for all calls; None leaves it to the call."""

    debug: bool | None = None
    early_stop: bool | None = None


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """In this block, `debug` of every checkpoint is this."""
    previous, Overrides.debug = Overrides.debug, enabled
    try:
        yield
    finally:
        Overrides.debug = previous


@contextmanager
def set_checkpoint_early_stop(enable: bool | None) -> Iterator[None]:
    """In this block, `early_stop` of every checkpoint is this."""
    previous, Overrides.early_stop = Overrides.early_stop, enable
    try:
        yield
    finally:
        Overrides.early_stop = previous


def noop_context_fn() -> tuple[AbstractContextManager, AbstractContextManager]:
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[AbstractContextManager, AbstractContextManager]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function so that backward computes anew what the function would have saved.

    `context_fn` gives the contexts of the first run and of the second. With `preserve_rng_state=True`, the default, the
    second run draws the random numbers of the first. `determinism_check="none"` leaves out the comparison of what the
    two save, and with `early_stop=False` the second run goes on to the end.
    """
    if use_reentrant is None:
        warn(_unspecified("torch.utils.checkpoint", _CALLING_CHECKPOINT))
        use_reentrant = True
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        _refuse_keywords(kwargs)
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    is_debugged = debug if Overrides.debug is None else Overrides.debug
    if is_debugged and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in _FACTS:
        raise ValueError(f"determinism_check should be one of {list(_FACTS)}, but got {determinism_check}")
    logs = RunLogs() if is_debugged else None
    forward_context, recompute_context = context_fn() if logs is None else (logs.first, logs.second)
    run_again = _repetition(function, kwargs, preserve_rng_state, recompute_context)
    stops = early_stop if Overrides.early_stop is None else Overrides.early_stop
    frame = Frame(run_again, _FACTS[determinism_check], stops, None if logs is None else logs.fail)
    return _run_first(frame, forward_context, function, args, kwargs)


def _repetition(function: Callable, kwargs: dict, preserve_rng_state: bool, context: Any) -> Callable:
    """A function of the positional arguments that makes the call again, as it is made now."""
    rng_states = states_now() if preserve_rng_state else None
    device, precision = get_default_device(), AutocastAsItIs()

    def run_again(*args: Any) -> None:
        with with_states(rng_states), precision, context, device:
            function(*args, **kwargs)

    return run_again


def _run_first(frame: Frame, context: Any, function: Callable, args: tuple, kwargs: dict) -> Any:
    if not is_grad_enabled():
        return function(*args, **kwargs)
    frame.save_inputs(args)
    with saved_tensors_hooks(frame.pack, frame.unpack), context:
        result = function(*args, **kwargs)
        frame.is_complete = True
        return result
    raise RuntimeError(
        "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
        "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward."
    )


def _facts_of(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def _no_facts(tensor: Tensor) -> None:
    return None


_FACTS: dict[str, Callable[[Tensor], Any]] = {"default": _facts_of, "none": _no_facts}


def _refuse_keywords(kwargs: dict) -> None:
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))


# -------------------- several functions --------------------


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run functions (or the modules of a Sequential) one after the other, in segments.

    All segments but the last are checkpointed.
    """
    if use_reentrant is None:
        place = "torch.utils.checkpoint.checkpoint_sequential"
        warn(_unspecified(place, _PASSING_NOTHING))
        use_reentrant = True
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    _refuse_keywords(kwargs)
    functions = list(functions.children()) if isinstance(functions, Sequential) else functions
    size = len(functions) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        segment = _in_turn(functions[start:end])
        input = checkpoint(segment, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return _in_turn(functions[end:])(input)


def _in_turn(functions: Sequence[Callable]) -> Callable:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run


# -------------------- as one node --------------------


class CheckpointFunction(Function):
    """A function as one node, whose backward runs the function and a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_again = _recorded(run_function, preserve_rng_state)
        ctx.inputs = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.tensor_indices = [place for place, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.save_for_backward(*(args[place] for place in ctx.tensor_indices))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple:
        if running.task is None or running.task.needed is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for place, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[place] = tensor
        leaves = detach_variable(tuple(inputs))
        outputs = ctx.run_again(leaves)
        _run_backward((outputs,) if isinstance(outputs, Tensor) else outputs, grads)
        return (None, None, *(leaf.grad if isinstance(leaf, Tensor) else None for leaf in leaves))


def _recorded(function: Callable, preserve_rng_state: bool) -> Callable:
    """A function of a tuple of arguments that makes the call that is made now without a graph, with one."""
    rng_states = states_now() if preserve_rng_state else None
    precision = AutocastAsItIs()

    def run_again(args: tuple) -> Any:
        with with_states(rng_states), precision, enable_grad():
            return function(*args)

    return run_again


def _run_backward(outputs: Sequence[Any], grads: Sequence[Any]) -> None:
    """Send the gradients into those of the outputs that take part."""
    pairs = [
        (output, grad) for output, grad in zip(outputs, grads) if isinstance(output, Tensor) and output.requires_grad
    ]
    if not pairs:
        raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
    backward([output for output, _ in pairs], [grad for _, grad in pairs])


def detach_variable(inputs: Any) -> tuple:
    """The tensors of a tuple as leaves of their own, the other values as they are."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(_leaf_of(value) if isinstance(value, Tensor) else value for value in inputs)


def _leaf_of(tensor: Any) -> Tensor:
    leaf = tensor.detach()
    leaf.requires_grad = tensor.requires_grad
    return leaf


def check_backward_validity(inputs: Iterable[Any]) -> None:
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


# -------------------- texts --------------------

_CALLING_CHECKPOINT = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
_PASSING_NOTHING = "In version 2.9 we will raise an exception if use_reentrant is not passed."


def _unspecified(place: str, consequence: str) -> str:
    return (
        f"{place}: the use_reentrant parameter should be passed explicitly. {consequence} use_reentrant=False is "
        "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer "
        "to docs for more details on the differences between the two variants."
    )


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of tensors other than the CPU, and the states of their generators: there are none."""
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Nothing is to be put back."""
