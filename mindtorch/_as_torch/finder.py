"""How `import` finds the modules of the library under PyTorch's names, and the metadata of a package `torch`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from mindtorch import version
from mindtorch._as_torch.labels import label

_METADATA = f"""Metadata-Version: 2.1
Name: torch
Version: {version.__version__}
Summary: mindtorch {version.mindtorch} in the place of PyTorch
"""

_ANY = DistributionFinder.Context()


def library_path(name: str) -> str | None:
    """The library's name of a module that PyTorch's name means: `mindtorch.nn` for `torch.nn`; None for other names."""
    if name == "torch" or name.startswith("torch."):
        return "mindtorch" + name.removeprefix("torch")
    return None


class _Loader:
    """Has a module loaded by the loader that it has anyway, under whichever of its names it is asked for."""

    def __init__(self, name: str, loader: Any) -> None:
        self._name = name
        self._loader = loader

    def __getattr__(self, name: str) -> Any:  # such as `path` and `get_data`, which inspect and runpy look for
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        label(module, self._name)

    # What runpy, linecache and pkgutil ask for by the name that they know.

    def get_code(self, fullname: str) -> Any:
        return self._loader.get_code(self._name)

    def get_source(self, fullname: str) -> str | None:
        return self._loader.get_source(self._name)

    def get_filename(self, fullname: str = "") -> str:
        return self._loader.get_filename(self._name)

    def is_package(self, fullname: str) -> bool:
        return self._loader.is_package(self._name)


class _Alias(_Loader):
    """Loads a module under its other name, which gives the same object."""

    _spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # instead of that of the other name, which `import` has written there


class TorchFinder(DistributionFinder):
    """Comes before all others, so that PyTorch itself is not found."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        own = library_path(fullname)
        if own is not None:
            return _alias(fullname, own)
        if not fullname.startswith("mindtorch."):
            return None
        spec = _found_by_others(self, fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(fullname, spec.loader)  # type: ignore[assignment]
        return spec

    def find_distributions(self, context: DistributionFinder.Context = _ANY) -> Iterable[Distribution]:
        return [_Metadata()] if context.name is None or context.name.lower() == "torch" else []


def _alias(name: str, own: str) -> ModuleSpec | None:
    known = sys.modules.get(own)
    spec = find_spec(own) if known is None else known.__spec__
    if known is None and spec is None:
        return None
    loader = _Alias(own, spec and getattr(spec.loader, "_loader", spec.loader))
    if spec is None:
        return ModuleSpec(name, loader)  # type: ignore[arg-type]
    found = ModuleSpec(name, loader, origin=spec.origin)  # type: ignore[arg-type]
    found.submodule_search_locations = spec.submodule_search_locations
    found.has_location = spec.has_location
    return found


def _found_by_others(own: Any, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        spec = None if finder is own else finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None


class _Metadata(Distribution):
    """What `importlib.metadata` knows of the package `torch`."""

    def read_text(self, filename: str) -> str | None:
        return {"METADATA": _METADATA, "top_level.txt": "torch\n"}.get(filename)

    def locate_file(self, path: Any) -> Path:
        return Path(__file__).parents[2] / path
