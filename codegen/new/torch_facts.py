"""What PyTorch says about an op, read from the YAML files that its wheel carries. PyTorch itself is not imported.

Where it is not installed, the list of its schemas' names in this repository tells which variants an op has.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FUNCTIONS = "packaged/ATen/native/native_functions.yaml"
_DERIVATIVES = "packaged/autograd/derivatives.yaml"
_NAMES = "docs/builder/pytorch_ops.txt"
_COMPOSITE = "CompositeImplicitAutograd"
_NO_ARGUMENTS = ("name", "dispatch", "output_differentiability", "output_differentiability_conditions", "result")


@dataclass(frozen=True, slots=True)
class TorchFunction:
    """One function of PyTorch: its schema string, and what its list of functions says about it."""

    schema: str
    variants: tuple[str, ...]
    python_module: str | None
    tags: tuple[str, ...]
    is_composite: bool

    @property
    def full_name(self) -> str:
        return self.schema.partition("(")[0]

    @property
    def base(self) -> str:
        """``add`` for ``add.Tensor``, ``add_.Tensor`` and ``add.out``."""
        name = self.full_name.partition(".")[0]
        return name[:-1] if name.endswith("_") and not name.endswith("__") else name


@dataclass(frozen=True, slots=True)
class TorchDerivative:
    """Which arguments of an op PyTorch has a gradient formula for, and which outputs are differentiable."""

    arguments: tuple[str, ...]
    outputs: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class TorchFacts:
    """All functions by base name, and the derivatives by schema string."""

    functions: Mapping[str, tuple[TorchFunction, ...]]
    derivatives: Mapping[str, TorchDerivative]


def find_facts() -> TorchFacts | None:
    """The facts of the installed PyTorch; None when there is none, or one without these files."""
    spec = importlib.util.find_spec("torchgen")
    root = Path(spec.origin).parent if spec and spec.origin else None
    if root is None or not (root / _FUNCTIONS).is_file() or not (root / _DERIVATIVES).is_file():
        return None
    functions: dict[str, list[TorchFunction]] = {}
    for function in map(_function, _entries(root / _FUNCTIONS)):
        functions.setdefault(function.base, []).append(function)
    derivatives = {entry["name"]: _derivative(entry) for entry in _entries(root / _DERIVATIVES)}
    return TorchFacts({base: tuple(found) for base, found in functions.items()}, derivatives)


def find_names(root: Path) -> frozenset[str]:
    """The full names of PyTorch's schemas; none where there is no list of them."""
    path = root / _NAMES
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return frozenset(line.split()[0] for line in lines if line.strip() and not line.startswith("#"))


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    yield from yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)


def _function(entry: dict[str, Any]) -> TorchFunction:
    kernels = " ".join(entry.get("dispatch", {_COMPOSITE: ""}))
    return TorchFunction(
        schema=entry["func"],
        variants=tuple(_words(entry.get("variants", "function"))),
        python_module=entry.get("python_module"),
        tags=tuple(_words(entry.get("tags", ""))),
        is_composite=_COMPOSITE in kernels and not (entry.get("structured_delegate") or entry.get("structured")),
    )


def _derivative(entry: dict[str, Any]) -> TorchDerivative:
    formulas = entry.get("dispatch", {}).get("Default", {}) | entry
    keys = {key: value for key, value in formulas.items() if key not in _NO_ARGUMENTS}
    arguments = (name for key, value in keys.items() if value != "non_differentiable" for name in _words(key))
    return TorchDerivative(tuple(arguments), tuple(entry.get("output_differentiability", ())))


def _words(value: str | list[str]) -> Iterator[str]:
    """The words of ``a, b``, which may also be written as a list."""
    words = value.split(",") if isinstance(value, str) else value
    return (word.strip() for word in words if word.strip())
