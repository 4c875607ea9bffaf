"""How `import` finds modules that stand for PyTorch's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from mindtorch._support.lazy import lazy

_making: Any = lazy("mindtorch._support.absent.making")


class StandIn(ModuleType):
    """A module of PyTorch's of which there is nothing here but the names."""

    def __getattr__(self, name: str) -> Any:
        return _making.name_in(self.__spec__.name, name)  # type: ignore[union-attr]

    def __dir__(self) -> list[str]:
        return _making.names_of(self.__spec__.name)  # type: ignore[union-attr]


class _Known:
    """Loads what a package has under a name: a module of another place, or one that is no file."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # instead of that of the name, which `import` has written there


class StandInFinder:
    """Comes after all others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("mindtorch."):
            return None
        package, _, name = fullname.rpartition(".")
        known = vars(sys.modules[package]).get(name)
        if known is not None:  # no stand-in takes its place
            return ModuleSpec(fullname, _Known(known)) if isinstance(known, ModuleType) else None  # type: ignore[arg-type]
        if not _making.stands_for_module(fullname):
            return None
        return ModuleSpec(fullname, self, is_package=_making.is_package(fullname))  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = _making.reason(module.__name__, "")


def register_stand_ins() -> None:
    sys.meta_path.append(StandInFinder())
