"""What a project is: a package with generated ops, and where its files lie.

mindtorch is one: ``Project(root)`` has its settings. Another package describes itself in its pyproject.toml, which
project_file.py reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from .keys import ALL_FAMILIES, OP_KEYS, Key

# The folder of the sources that the generator comes with: they lie side by side, in a checkout and when installed.
LIBRARY_ROOT = Path(__file__).parent.parent
LIBRARY = "mindtorch"
_LIBRARY_BACKENDS = {
    "CPU": "mindtorch/backends/cpu",
    "NPU": "mindtorch/backends/npu",
    "Meta": "mindtorch/backends/meta",
    "SparseCPU": "mindtorch/backends/sparsecpu",
    "SparseCsrCPU": "mindtorch/backends/sparsecsrcpu",
}


@dataclass(frozen=True, slots=True)
class Project:
    """A package and its files, as paths below ``root`` with slashes.

    ``namespace``          stands in front of the names of its ops, ``wavelets::haar``; empty for the library's own ops
    ``sources``            the folder that the package is imported from: empty when that is ``root``
    ``generated``          the folder of the generated code, and ``generated_package`` its name in imports
    ``type_stubs``         the folder of its type stubs, where type checkers look for that package
    ``backends``           the folder of each backend's kernels, in which a family has a file or a folder
    ``formulas``           the helpers of derivatives: a file, or a folder of files
    ``aclnn_signatures``   a table of ACLNN functions that CANN's own headers do not have; None when there is none
    ``extends``            the root of the library that the package builds on; None for the library itself
    """

    root: Path
    package: str = LIBRARY
    namespace: str = ""
    sources: str = ""
    ops: str = "ops.yaml"
    derivatives: str = "derivatives.yaml"
    generated: str = "generated"
    generated_package: str = "mindtorch._generated"
    type_stubs: str = "mindtorch/_generated"
    backends: Mapping[str, str] = field(default_factory=_LIBRARY_BACKENDS.copy)
    composites: str = "mindtorch/composite"
    formulas: str = "mindtorch/autograd/formulas"
    samples: str = "tests/samples.py"
    docs: str = "docs/ops"
    schemas: str = "schemas"
    families: tuple[str, ...] = ALL_FAMILIES
    aclnn_signatures: str | None = None
    extends: Path | None = None

    @property
    def is_library(self) -> bool:
        """Whether this is mindtorch: only its ops are methods and operators of Tensor."""
        return self.extends is None

    @property
    def shown_package(self) -> str:
        """What stands in front of an op in examples of calls: mindtorch is imported as torch."""
        return "torch" if self.is_library else self.package

    @property
    def library_root(self) -> Path:
        return self.extends or self.root

    @property
    def generator(self) -> str:
        """The package that the headers of generated files name."""
        return "codegen" if self.is_library else "mindtorch_codegen"

    @property
    def command(self) -> str:
        """What one types to run the generator."""
        return "python -m codegen" if self.is_library else "mindtorch-codegen"

    @property
    def op_keys(self) -> tuple[Key, ...]:
        """The keys of ops.yaml, with the words that this project has for them."""
        words = {"family": self.families, "dispatch": tuple(self.backends)}
        return tuple(replace(key, values=words.get(key.name, key.values)) for key in OP_KEYS)

    @property
    def generated_patterns(self) -> tuple[str, ...]:
        """Where generated files are: the first folder has nothing else."""
        schemas = (f"{self.schemas}/{name}.schema.json" for name in ("ops", "derivatives", "allowed", "diff"))
        return f"{self.generated}/**/*", f"{self.type_stubs}/**/*.pyi", f"{self.docs}/*.md", *schemas

    def placed(self, path: str) -> str:
        """Where a generated file is that in mindtorch is ``path``."""
        generated = self.type_stubs if path.endswith(".pyi") else self.generated
        folders = {"generated": generated, "docs/ops": self.docs, "schemas": self.schemas}
        folder = next(folder for folder in folders if path.startswith(f"{folder}/"))
        return folders[folder] + path.removeprefix(folder)

    def registered_name(self, op: str) -> str:
        """The name under which the dispatcher knows an op or a schema: ``wavelets::haar``."""
        return f"{self.namespace}::{op}" if self.namespace else op

    # A family has one file of that name, or a folder of files: its functions are found in any of them. Where the place
    # is shown or named, a folder ends with a slash.

    def kernel_place(self, backend: str, family: str) -> str:
        """Where a backend's kernels of a family are looked for: a file, or a folder of files."""
        return self._place(f"{self.backends[backend]}/{family}")

    def composite_place(self, family: str) -> str:
        return self._place(f"{self.composites}/{family}")

    def formula_place(self, family: str) -> str:
        """Where a helper for an op of a family is written."""
        place = self._place(self.formulas.removesuffix(".py"))
        return self._place(f"{place}{family}") if place.endswith("/") else place

    def _place(self, path: str) -> str:
        is_folder = (self.root / path).is_dir() and not (self.root / f"{path}.py").is_file()
        return f"{path}/" if is_folder else f"{path}.py"

    def files_of(self, place: str) -> list[str]:
        """The files of a place."""
        return self._files(place, "*.py") if place.endswith("/") else [place]

    @property
    def decomposition_file(self) -> str:
        """The file with the helpers of decompositions."""
        return f"{self.composites}/helpers.py"

    def decomposition_files(self) -> list[str]:
        """That file, if there is one."""
        return [self.decomposition_file] if (self.root / self.decomposition_file).is_file() else []

    def formula_files(self) -> list[str]:
        """The files with helpers of derivatives: the one of that name, or those of the folder of that name.

        Either is found by the other's name, as Python finds a module or a package: one may have become the other.
        """
        place = self._place(self.formulas.removesuffix(".py"))
        return self._files(place, "**/*.py") if place.endswith("/") else [place] * (self.root / place).is_file()

    def _files(self, folder: str, pattern: str) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in (self.root / folder).glob(pattern))

    @property
    def module_files(self) -> dict[str | None, str]:
        """Where users find functions: the package itself, and of mindtorch the modules that `python_module` names."""
        folder = str(PurePosixPath(self.sources, self.package))
        modules = next(key.values for key in OP_KEYS if key.name == "python_module") if self.is_library else ()
        files: dict[str | None, str] = {module: f"{folder}/{module}.py" for module in modules}
        return {**files, None: f"{folder}/__init__.py"} | ({"nn": f"{folder}/nn/functional.py"} if modules else {})

    def module_of(self, path: str) -> str:
        """The name under which a file or folder of the package is imported."""
        parts = PurePosixPath(path.removesuffix("/__init__.py")).with_suffix("").parts
        return ".".join(parts[len(PurePosixPath(self.sources).parts) :])
