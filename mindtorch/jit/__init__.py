"""The names of `torch.jit`. There is no compiler: what would be compiled runs as the Python that it is."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from mindtorch.futures import Future
from mindtorch.nn.modules.module import Module

__all__ = [
    "Attribute", "Error", "Final", "Future", "RecursiveScriptModule", "ScriptFunction", "ScriptModule", "ScriptWarning",
    "TracerWarning", "TracingCheckError", "annotate", "enable_onednn_fusion", "export", "fork", "freeze", "ignore",
    "is_scripting", "is_tracing", "load", "optimize_for_inference", "save", "script", "script_if_tracing",
    "script_method", "set_fusion_strategy", "trace", "trace_module", "unused", "wait",
]  # fmt: skip

Program = TypeVar("Program")

# By this name programs tell a compiler what a value is.
isinstance = isinstance


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


_script_if_tracing = script_if_tracing


def _overload(func: Program) -> Program:
    """The function itself: a signature beside others, of which the last one is called."""
    return func


_overload_method = interface = _overload


def _unwrap_optional(x: Program | None) -> Program:
    """The value, which must not be None."""
    assert x is not None, "Unwrapping null optional"
    return x


def export(fn: Program) -> Program:
    """The function itself."""
    return fn


def unused(fn: Program) -> Program:
    """The function itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself; a decorator, with or without arguments."""
    return drop if callable(drop) else lambda fn: fn


def annotate(the_type: Any, the_value: Program) -> Program:
    """The value itself."""
    return the_value


def trace(func: Program, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Program:
    """The function or module itself, which is called once, as torch does. Branches stay branches."""
    if example_inputs is not None:
        func(*example_inputs) if isinstance(example_inputs, tuple) else func(example_inputs)  # type: ignore[operator]
    return func


def trace_module(mod: Program, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Program:
    """The module itself, of which each named method is called once with its inputs."""
    for name, example_inputs in inputs.items():
        trace(getattr(mod, name), example_inputs)
    return mod


def freeze(mod: Program, *args: Any, **kwargs: Any) -> Program:
    """The module itself. Raises RuntimeError if it is in training mode."""
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
            "before freezing."
        )
    return mod


optimize_for_inference = freeze


def script_method(fn: Program) -> Program:
    """The method itself."""
    return fn


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        "there is no TorchScript here: save a model with torch.save(model.state_dict(), file), and load it with "
        "model.load_state_dict(torch.load(file))"
    )


save = load = _refuse


class ScriptModule(Module):
    """A module like any other, for programs that derive theirs from it; `script` and `trace` do not make any."""


class ScriptFunction:
    """Nothing is one."""


RecursiveScriptModule = ScriptModule


class Error(Exception):
    """What TorchScript raises; nothing raises it here."""


class TracingCheckError(Exception):
    """The same for `trace`."""


class TracerWarning(Warning):
    """What programs tell `trace` not to warn of; there is nothing to warn of."""


class ScriptWarning(Warning):
    """The same for `script`."""


class Attribute(NamedTuple):
    """A value and its type, for `ScriptModule`; the value is all that counts."""

    value: Any
    type: Any


def fork(func: Callable, *args: Any, **kwargs: Any) -> Future:
    """Make a call at once, in the place of one that is made beside others."""
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future) -> Any:
    """What the call of a `fork` returned."""
    return future.wait()


# -------------------- settings --------------------


def enable_onednn_fusion(enabled: bool) -> None:
    """Nothing to enable."""


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Nothing is fused; returns what would be the strategy before."""
    return []


def is_scripting() -> bool:
    return False


def is_tracing() -> bool:
    return False
