"""Modules, classes and functions get PyTorch's names, as far as it has them.

`torch_names.tsv` says where PyTorch defines what it has. A class or function that is there in the library as well says
the same of itself afterwards (`__module__`, `__qualname__`): pickle refers to it by that, and programs look at it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

from mindtorch._support.lazy import names_from
from mindtorch._support.torch_names import homes
from mindtorch.serialization.names import torch_names


def torch_path(name: str) -> str:
    """PyTorch's name of a module of the library: `torch.nn` for `mindtorch.nn`."""
    return "torch" + name.removeprefix("mindtorch")


def label_all() -> None:
    """What is loaded already, and what pickles of tensors call."""
    for (module, name), thing in torch_names().items():
        if isinstance(thing, (type, FunctionType)):
            _label(thing, module, name)
    loaded = [path for path in sys.modules if path.partition(".")[0] == "mindtorch"]
    for path in loaded:
        if vars(sys.modules[path]).get("__spec__") is not None:  # and no stand-in of an old name
            label(sys.modules[path], path)


def label(module: ModuleType, name: str) -> None:
    """Make a module known under PyTorch's name, and have what is in it tell where PyTorch defines it."""
    path = torch_path(name)
    sys.modules[path] = module
    namespace = vars(module)
    namespace.setdefault("__getattr__", names_from(name, {}))  # what is not there refuses when it is used
    for attribute, home in homes().get(path, {}).items():
        thing = namespace.get(attribute)
        if isinstance(thing, (type, FunctionType)) and _is_unlabelled(thing):
            if home == path or _has(home, attribute, thing):
                _label(thing, home, attribute)


def _is_unlabelled(thing: Any) -> bool:
    """Whether something says that it is of the library. Functions of ops are looked up by the name that they have."""
    place = thing.__module__ or ""
    return place.partition(".")[0] == "mindtorch" and not place.startswith("mindtorch._generated")


def _has(home: str, name: str, thing: Any) -> bool:
    """Whether a module has it: otherwise pickle would not find it there."""
    own = "mindtorch" + home.removeprefix("torch")
    try:
        found = own in sys.modules or find_spec(own) is not None
    except ModuleNotFoundError:  # one of the packages that it would lie in
        return False
    return found and getattr(import_module(own), name, None) is thing


def _label(thing: Any, module: str, name: str) -> None:
    thing.__module__ = module
    thing.__qualname__ = name
    thing.__name__ = name
