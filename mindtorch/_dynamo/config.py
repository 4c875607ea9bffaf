"""Settings of `torch.compile` that programs change. No compiler looks at them; others are those of PyTorch's table."""

from typing import Any

from mindtorch._support.absent.settings import settings_of

suppress_errors = False
capture_dynamic_output_shape_ops = False
verbose = False

patch: Any
__getattr__: Any
patch, __getattr__ = settings_of(__name__)
