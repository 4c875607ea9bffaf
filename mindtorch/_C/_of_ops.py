"""Functions of ops under the names that torch's C++ modules have for them, which traced programs use."""

from collections.abc import Callable
from typing import Any

from mindtorch._functions.overridable import overridable
from mindtorch.dispatch import ops


def functions_of_ops(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module in which every op is a function."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__") or not hasattr(ops, name):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return overridable(getattr(ops, name))

    return __getattr__
