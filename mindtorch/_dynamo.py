"""What programs set in `torch._dynamo` before they call `compile`. There is no compiler to look at it."""

from types import SimpleNamespace

from mindtorch.compiler import disable, is_compiling, reset

__all__ = ["config", "disable", "is_compiling", "reset"]

config = SimpleNamespace(suppress_errors=False, cache_size_limit=8, verbose=False)
