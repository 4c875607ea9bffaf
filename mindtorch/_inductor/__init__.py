"""What programs set in `torch._inductor` before they call `compile`. There is no compiler to look at it."""

from mindtorch._inductor import config as config

__all__ = ["config"]
