"""Helpers around training."""

from importlib import import_module
from types import ModuleType

from mindtorch.utils import _python_dispatch, _pytree, checkpoint, data, graph, hooks
from mindtorch.utils.swapping import swap_tensors

__all__ = [
    "_python_dispatch", "_pytree", "benchmark", "checkpoint", "data", "flop_counter", "graph", "hooks", "model_zoo",
    "serialization", "swap_tensors", "tensorboard",
]  # fmt: skip

# Modules that few programs use.
_LAZY_MODULES = ("benchmark", "flop_counter", "model_zoo", "serialization", "tensorboard")


def __getattr__(name: str) -> ModuleType:
    if name in _LAZY_MODULES:
        return import_module(f"mindtorch.utils.{name}")
    raise AttributeError(f"module 'mindtorch.utils' has no attribute '{name}'")
