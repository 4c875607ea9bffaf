"""Settings of PyTorch's compiler that programs change; others are PyTorch's defaults. No compiler looks at them."""

from types import SimpleNamespace
from typing import Any

from mindtorch._support.absent.settings import settings_of

coordinate_descent_tuning = False
fx_graph_cache = False
triton = SimpleNamespace()
cpp = SimpleNamespace()
pre_grad_custom_pass = None
post_grad_custom_pre_pass = None
post_grad_custom_post_pass = None

patch: Any
__getattr__: Any
patch, __getattr__ = settings_of(__name__)
