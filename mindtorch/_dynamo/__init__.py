"""What programs set in `torch._dynamo` before they call `compile`. There is no compiler to look at it."""

from typing import Any

from mindtorch._dynamo import config as config
from mindtorch._dynamo import eval_frame as eval_frame
from mindtorch.compiler import (
    OptimizedModule,
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    is_compiling,
    reset,
)

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "graph_break", "is_compiling",
    "mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic", "optimize", "reset",
]  # fmt: skip


def graph_break(msg: str = "") -> None:
    """There is no graph to break."""


def optimize(backend: Any = "inductor", *, nopython: bool = False, dynamic: Any = None, disable: bool = False) -> Any:
    """The older form of `torch.compile`, as a decorator."""
    return compile(backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable)


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Nothing is compiled that would make use of it."""


def mark_dynamic(t: Any, index: Any, **bounds: Any) -> None:
    """Nothing is compiled for some sizes only."""


def mark_static(t: Any, index: Any = None) -> None:
    """Nothing is compiled for any size."""


maybe_mark_dynamic = mark_dynamic
