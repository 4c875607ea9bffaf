"""Modules without initial values."""

from __future__ import annotations

import inspect
from typing import Any

from mindtorch.nn.modules.module import Module


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Module:
    """A module whose parameters are allocated, but not filled."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    target = kwargs.pop("device", "cpu")
    kwargs["device"] = "meta"
    return module_cls(*args, **kwargs).to_empty(device=target)
