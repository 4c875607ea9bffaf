"""The Python signatures of the ops: those of the generated type stubs, or of the hand-written function in nn or fft."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import mindtorch

FUNCTIONS = "mindtorch/_generated/functions.pyi"
METHODS = "mindtorch/_generated/tensor_methods.pyi"


@dataclass(frozen=True, slots=True)
class Signatures:
    """By name: the signatures of the functions and of the methods of Tensor."""

    functions: dict[str, list[str]]
    methods: dict[str, list[str]]


def read_signatures(root: Path) -> Signatures:
    return Signatures(_read(root / FUNCTIONS), _read(root / METHODS))


def signatures_of(place: str) -> list[str]:
    """The signature of a hand-written function: ``torch.nn.functional.mse_loss``. An op by its schema has none."""
    function = attrgetter(place.removeprefix("torch."))(mindtorch)
    return [f"{place}{inspect.signature(function)}"] if inspect.isfunction(function) else []


def _read(path: Path) -> dict[str, list[str]]:
    signatures: dict[str, list[str]] = {}
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            definition = " ".join(lines[node.lineno - 1 : node.end_lineno])
            remark = "  # deprecated" if _is_deprecated(node) else ""
            signatures.setdefault(node.name, []).append(_signature(definition) + remark)
    return signatures


def _is_deprecated(node: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Call) and ast.unparse(each.func) == "deprecated" for each in node.decorator_list)


def _signature(definition: str) -> str:
    """``def add(self, other: Tensor) -> Tensor: ...`` on one line, without what only Python needs."""
    line = re.sub(r"\s+", " ", definition).strip().removeprefix("def ").partition(": ...")[0]
    line = line.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return re.sub(r"\(self(, /)?(, )?", "(", line, count=1).replace(", /)", ")")
