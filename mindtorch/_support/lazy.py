"""What is loaded when it is first used, so that `import mindtorch` stays quick."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module; the first attribute read imports it and keeps what was asked for."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def lazy(name: str) -> ModuleType:
    """A stand-in for the module `name`, for example `special = lazy("scipy.special")`."""
    return LazyModule(name)


def names_from(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package for names that come from other modules, or are modules of its own.

    `places` has their modules. The first look at a name imports one, and the package keeps what was asked for. Other
    names of PyTorch's are looked for in `mindtorch._support.absent`.
    """

    def __getattr__(name: str) -> Any:
        if name not in places:
            return _absent.name_in(package, name)
        module = import_module(places[name])
        value = module if places[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__


_absent: Any = lazy("mindtorch._support.absent.making")


class Unloaded:
    """Stands on a class for what a module puts there; the first look at the attribute imports the module.

    What it stands for takes its place, or hides it, so that later looks find nothing of it. Of two threads that look at
    once, the locks of imports have the second one wait.
    """

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return getattr(import_module(self.module), self.name)
