"""Helpers around training."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from mindtorch._support.lazy import names_from
from mindtorch.utils import _python_dispatch, _pytree, checkpoint, data, graph, hooks
from mindtorch.utils.swapping import swap_tensors

__all__ = [
    "_python_dispatch", "_pytree", "benchmark", "checkpoint", "data", "dlpack", "flop_counter", "graph", "hooks",
    "model_zoo", "serialization", "swap_tensors", "tensorboard", "weak",
]  # fmt: skip

# Modules that few programs use.
_LAZY_MODULES = ("benchmark", "dlpack", "flop_counter", "model_zoo", "serialization", "tensorboard", "weak")

if TYPE_CHECKING:  # the same names: with `__getattr__`, type checkers would take every other name, too
    from mindtorch.utils import benchmark as benchmark
    from mindtorch.utils import dlpack as dlpack
    from mindtorch.utils import flop_counter as flop_counter
    from mindtorch.utils import model_zoo as model_zoo
    from mindtorch.utils import serialization as serialization
    from mindtorch.utils import tensorboard as tensorboard
    from mindtorch.utils import weak as weak
else:

    _rest = names_from("mindtorch.utils", {})

    def __getattr__(name: str) -> ModuleType:
        if name in _LAZY_MODULES:
            return import_module(f"mindtorch.utils.{name}")
        return _rest(name)
