"""What programs set in `torch._inductor` before they call `compile`. There is no compiler to look at it."""

from types import SimpleNamespace

__all__ = ["config"]

config = SimpleNamespace(coordinate_descent_tuning=False, fx_graph_cache=False, triton=SimpleNamespace())
