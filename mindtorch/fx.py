"""The names of `torch.fx` that libraries import: nothing is traced, so there are no graphs of programs as objects.

`mindtorch.program` records the operator calls of a function.
"""

from typing import Any, NoReturn

from mindtorch.nn.modules.module import Module

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "symbolic_trace", "wrap"]


def wrap(fn_or_name: Any) -> Any:
    """What it is given: a function that a trace would not look into."""
    if not (callable(fn_or_name) or isinstance(fn_or_name, str)):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        "there is no torch.fx here: mindtorch.program.record(function, ...) records the operator calls of a function"
    )


symbolic_trace = _refuse


class _NotHere:
    """A class of which nothing can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse()


class Node(_NotHere):
    """Nothing is one."""


class Graph(_NotHere):
    """Nothing is one."""


class Proxy(_NotHere):
    """Nothing is one."""


class Tracer(_NotHere):
    """Nothing is one."""


class Interpreter(_NotHere):
    """Nothing is one."""


class Transformer(Interpreter):
    """Nothing is one."""


class GraphModule(Module):
    """A module that was made of a graph; nothing is one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse()
