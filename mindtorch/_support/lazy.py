"""Modules that are imported when they are first used, so that `import mindtorch` stays quick."""

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
