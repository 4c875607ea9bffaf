"""The names that torch has for functions and types, as generated code and printed graphs show them.

The code runs here because `torch` is this library in it, and each of these names is found below it.
"""

import builtins
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from types import FunctionType, GenericAlias, ModuleType
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functions.overridable import OverridableFunction, overridable

# Where torch keeps the C++ functions of a module; their names begin with that of the module.
_BUILTIN_PLACES = {
    "torch.linalg": "torch._C._linalg",
    "torch.fft": "torch._C._fft",
    "torch.special": "torch._C._special",
}
# These two are in `torch`, too.
_DISTANCES = frozenset(("cosine_similarity", "pairwise_distance"))
# What torch calls a function that has another name for users.
_OTHER_NAMES = {"logsigmoid": "log_sigmoid", "threshold": "_threshold"}
_OURS = re.compile(r"^mindtorch(?=\.|$)")
_OF_TORCH = re.compile(r"^(?:torch|mindtorch)(?:\.(?!_dynamo\.|_inductor\.)[^.]+)*$")


def in_torch(module: str) -> str:
    """The name of a module in torch: `torch.nn` for `mindtorch.nn`."""
    return _OURS.sub("torch", module)


def module_in_torch(value: Any) -> str | None:
    """The module in which torch has a function or class; None where Python gives none."""
    seen = overridable(value) if isinstance(value, FunctionType) else value
    if isinstance(seen, OverridableFunction):
        return _module_of(seen)
    module = getattr(seen, "__module__", None)
    if not isinstance(module, str):
        return None
    return in_torch(_public_place(seen) or module) if _OURS.match(module) else module


def _module_of(function: OverridableFunction) -> str:
    module = function.__module__
    if module == "torch":
        return "torch.functional" if function.in_python else "torch"
    if module == "torch.nn.functional":
        if function.in_python:
            return module
        return "torch" if function.__name__ in _DISTANCES else "torch._C._nn"
    return _BUILTIN_PLACES.get(module, module)


def _public_place(value: Any) -> str | None:
    """`mindtorch` or `mindtorch.nn.functional` if a function of the library is one of their names."""
    name = getattr(value, "__name__", None)
    for place in ("mindtorch", "mindtorch.nn.functional"):
        if isinstance(name, str) and getattr(import_module(place), name, None) is value:
            return place
    return None


def is_from_torch(value: Any) -> bool:
    """Whether generated code finds a value below the name `torch`."""
    module = getattr(value, "__module__", None)
    if isinstance(value, OverridableFunction) and module == "torch.Tensor":
        return value.in_python  # the others are of C++ in torch, and of no module
    if isinstance(module, str):
        return _OF_TORCH.match(module) is not None
    return not isinstance(value, ModuleType) and _public_place(value) is not None


def name_in_torch(function: Any) -> str:
    """The name under which torch defines a function: ops of modules have it in front, `linalg_norm`."""
    seen = overridable(function) if isinstance(function, FunctionType) else function
    name = str(seen.__name__)
    is_functional = isinstance(seen, OverridableFunction) and seen.__module__ == "torch.nn.functional"
    return _OTHER_NAMES.get(name, name) if is_functional else name


def qualified_name(function: Callable[..., Any]) -> str:
    """The dotted name of a function or class in torch, which generated code calls."""
    name = name_in_torch(function)
    if getattr(builtins, name, None) is function:
        return name
    if isinstance(function, OverridableFunction) and function.__module__ == "torch.Tensor":
        return f"torch.Tensor.{name}"
    if name == "<lambda>":
        name = _name_of_lambda(function)
    module = module_in_torch(function)
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    return f"{module.replace('torch._ops', 'torch.ops')}.{name}"


def _name_of_lambda(function: Callable[..., Any]) -> str:
    """What a lambda is assigned to, which its source tells."""
    try:
        return inspect.getsource(function).split("=")[0].strip()
    except (OSError, TypeError) as error:
        raise RuntimeError("Unable to represent lambda") from error


def type_repr(value: Any) -> str:
    """How a type is written in an annotation."""
    if isinstance(value, type) and not isinstance(value, GenericAlias):
        if value.__module__ == "builtins":
            return value.__qualname__
        if value is Tensor:
            return "torch.Tensor"
        return f"{module_in_torch(value)}.{value.__qualname__}"
    if value is ...:
        return "..."
    if isinstance(value, FunctionType):
        return value.__name__
    return _OURS_IN_TEXT.sub("torch", repr(value))


_OURS_IN_TEXT = re.compile(r"\bmindtorch(?=\.)")
