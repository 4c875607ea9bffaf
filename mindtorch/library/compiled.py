"""Libraries of operators that are compiled for PyTorch, such as torchvision's: their operators by name.

C++ that is compiled for PyTorch cannot be run. A package that has the operators of a library, written for mindtorch,
names them by an entry point in the group `mindtorch.operators` that is called as their namespace is. Operators that no
package has refuse when they are called. Which operators a library defines is in `_support/compiled_ops.tsv`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from mindtorch._support.op_names import namespace_of
from mindtorch.library.libraries import Library
from mindtorch.library.table import entry_of

GROUP = "mindtorch.operators"


class CompiledOp(NamedTuple):
    """A line of the table."""

    library: str  # which files it is of, as Path.match has it
    schema: str
    answer: str  # what it gives where there is neither CUDA nor an optional library; it refuses if that is empty

    @property
    def qualname(self) -> str:
        return self.schema.partition("(")[0]


_defined: dict[str, Library] = {}


def load_compiled(path: str) -> None:
    """Define the operators of a library; OSError if there is no such file, or if it is not known."""
    found = [each for each in _table() if Path(path).match(each.library)] if Path(path).is_file() else []
    if not found:
        raise OSError(f"Could not load this library: {Path(path).resolve()}")
    for namespace in {namespace_of(each.qualname) for each in found}:
        for point in entry_points(group=GROUP, name=namespace):
            point.load()
    for each in found:
        if entry_of(each.qualname) is None:
            _define(each)


@cache
def _table() -> list[CompiledOp]:
    text = (Path(__file__).parents[1] / "_support" / "compiled_ops.tsv").read_text(encoding="utf-8")
    return [CompiledOp(*line.split("\t")) for line in text.splitlines()[1:]]


def _define(op: CompiledOp) -> None:
    namespace, _, name = op.qualname.partition("::")
    library = _defined.setdefault(namespace, Library(namespace, "FRAGMENT"))
    library.define(op.schema)
    library.impl(name, _answering(op) if op.answer else _refusing(op), "CompositeExplicitAutograd")


def _answering(op: CompiledOp) -> Callable[[], Any]:
    answer = ast.literal_eval(op.answer)
    return lambda: answer


def _refusing(op: CompiledOp) -> Callable[..., Any]:
    namespace = namespace_of(op.qualname)

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{op.qualname} is compiled for PyTorch, and mindtorch runs no C++: no package is installed that has the "
            f"operators of {namespace} for mindtorch. torch.library.impl({op.qualname!r}, 'CPU', function) makes a "
            "function of tensors its kernel"
        )

    return refuse
