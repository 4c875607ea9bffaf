"""`torch.compile` and its module. There is no compiler: what would be compiled runs as the Python that it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from functools import partial, wraps
from typing import Any

from mindtorch.nn.modules.module import Module

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "reset",
    "set_stance",
]


class InvalidBackend(RuntimeError):
    """There is no backend of that name."""


class OptimizedModule(Module):
    """A module that was given to `compile`: it behaves like it, and its parameters have `_orig_mod` in their names."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self._orig_mod = module
        self.training = module.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        module = self.__dict__["_modules"].get("_orig_mod")
        if name == "_orig_mod" and module is not None:
            return module
        return super().__getattr__(name) if module is None else getattr(module, name)


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Callable[..., Any]:
    """A function or a module that does the same; without one, a decorator.

    Raises NotImplementedError for a backend of one's own, a function, as there is no graph to give it; and PyTorch's
    errors for names of backends and modes that there are not.
    """
    check_choices(backend, mode, options)
    if model is None:
        return partial(compile, backend=backend, mode=mode, options=options, disable=disable)
    if disable:
        return model
    if isinstance(model, Module):
        return OptimizedModule(model)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    return _as_it_is(model)


_BACKENDS = frozenset((
    "aot_eager", "aot_eager_decomp_partition", "aot_eager_decomp_partition_crossref",
    "aot_eager_decomp_partition_with_mode", "aot_eager_default_partitioner", "aot_ts", "cudagraphs", "eager",
    "eager_debug", "eager_noexcept", "inductor", "invoke_subgraph", "openxla", "openxla_eval", "pre_dispatch_eager",
    "ts", "tvm",
))  # fmt: skip
_MODES = "default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune"


def check_choices(backend: Any = "inductor", mode: str | None = None, options: Any = None) -> None:
    """Refuse what `compile` cannot leave undone."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if callable(backend):
        raise NotImplementedError(
            "torch.compile calls no backend of one's own: no graph is made of the program. torch.fx.symbolic_trace and "
            "make_fx make one, and compile with the name of a backend runs the program as it is"
        )
    if backend not in _BACKENDS:
        raise InvalidBackend(
            f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available backends."
        )
    if backend == "inductor" and mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")


def _as_it_is(function: Callable) -> Callable:
    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return called


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself."""
    return (lambda fn: fn) if fn is None else fn


def is_compiling() -> bool:
    return False


def is_dynamo_compiling() -> bool:
    return False


def is_exporting() -> bool:
    return False


def allow_in_graph(fn: Any) -> Any:
    """What it is given: nothing is compiled that could lack it."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself, uncompiled."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """There are no recorded steps."""


def set_stance(stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None) -> Any:
    """How to compile makes no difference; for use as a function, a decorator or a context."""
    if stance not in _STANCES:
        raise RuntimeError(f"invalid torch.compile stance {stance!r}, which should be one of: {', '.join(_STANCES)}")
    return _Stance()


_STANCES = (
    "default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile", "fail_on_recompile",
)  # fmt: skip


class _Stance(ContextDecorator):
    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


def reset() -> None:
    """Nothing was compiled."""
