"""Under which names users reach what is written by hand: ``torch.nn.functional.embedding``, ``Tensor.tolist``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cached_property

from ..model import Model
from ..sources.hand_written import TENSOR, TENSOR_METHODS
from .definitions import Definition, decorators
from .source_files import EVERYTHING, Files, Import, imports_of, is_source

_MOST_HOPS = 5
_INTERNAL = ("mindtorch/dispatch", "mindtorch/backends/batched", "mindtorch/iterator", "mindtorch/composite")
# Methods that callers reach by their names or by calling an object.
_CALLED = ("__init__", "__new__", "__call__")


class PublicNames:
    """Of one state. A name is public where a module that users import has it.

    A module whose names another one exports is where these are written, and not for users.
    """

    def __init__(self, files: Files, model: Model) -> None:
        self._files, self._model = files, model

    def of(self, file: str, definition: Definition, owner: Definition | None = None) -> str | None:
        """The name that users write; None where there is none. ``owner`` is the class that a member belongs to."""
        first, _, member = definition.name.partition(".")
        if member.startswith("_") and member not in _CALLED:
            return None
        if owner is not None and self._is_tensor(file, owner):
            return f"Tensor.{member}" if member else None
        if first.startswith("_") and not first.startswith("__"):
            return None
        public = self.of_name(file, first)
        if public is None or not member:
            return public
        return public if member in ("__init__", "__new__") else f"{public}.{member}"

    def of_name(self, file: str, name: str) -> str | None:
        """The public name of something that a file defines at its top level."""
        found = sorted(self._exported(file, name, 0), key=lambda each: (each.count("."), each))
        if found:
            return found[0]
        module = self._model.project.module_of(file)
        is_written_for_others = any(each.is_export for each in self._importers.get(module, ()))
        if not _is_public(module) or is_written_for_others or name.startswith("_") or self._is_internal(file):
            return None
        return f"{self._shown(module)}.{name}"

    def _exported(self, file: str, name: str, hops: int) -> Iterator[str]:
        for each in self._importers.get(self._model.project.module_of(file), ()):
            alias = name if each.name == EVERYTHING else each.alias if each.name == name else "_"
            if not each.is_export or alias.startswith("_") or hops > _MOST_HOPS:
                continue
            module = self._model.project.module_of(each.file)
            if _is_public(module):
                yield f"{self._shown(module)}.{alias}"
            yield from self._exported(each.file, alias, hops + 1)

    def _shown(self, module: str) -> str:
        return self._model.project.shown_package + module.removeprefix(self._model.project.package)

    def _is_internal(self, file: str) -> bool:
        """Whether the file is one of kernels, composite functions or formulas, or of what dispatches to them."""
        project = self._model.project
        folders = (*project.backends.values(), project.composites, project.formulas.removesuffix(".py"), *_INTERNAL)
        return not is_source(file, self._model) or any(file.startswith((f"{each}/", f"{each}.py")) for each in folders)

    def _is_tensor(self, file: str, owner: Definition) -> bool:
        if not any(fnmatch(file, pattern) for pattern in TENSOR_METHODS):
            return False
        return "extend_tensor" in decorators(owner) or (file == TENSOR and owner.name == "Tensor")

    @cached_property
    def _importers(self) -> dict[str, list[Import]]:
        found = defaultdict(list)
        for file, text in self._files.items():
            if is_source(file, self._model):
                for each in imports_of(file, text):
                    found[each.module].append(each)
        return found


def _is_public(module: str) -> bool:
    return not any(part.startswith("_") for part in module.split("."))
