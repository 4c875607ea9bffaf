"""Small projects for the generator's tests: input files written to a directory, and what the generator says of them."""

from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from codegen.errors import Diagnostic, InvalidInput
from codegen.load import load
from codegen.model import Model

OPS = """
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  family: pointwise
  variants: function, method
  autogen: inplace, out
  dispatch: {CPU: mul}

- func: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
  family: pointwise
  dispatch: {CPU: scale}

- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  family: reduction
  dispatch: {CPU: max_dim}

- func: cat(Tensor[] tensors, int dim=0) -> Tensor
  family: indexing
  dispatch: {CPU: cat}

- func: unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
  family: view
  view: multi
  dispatch: {CPU: unbind}

- func: square(Tensor self) -> Tensor
  family: pointwise
  composite: square
"""
DERIVATIVES = """
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self: grad * other
  other: grad * self
  result: self_t * other_p + other_t * self_p
"""
FORMULAS = """
LOG_2 = 0.69


def multiply(grad, factor, fast=False):
    return grad * factor
"""


@dataclass(frozen=True)
class Case:
    """Wrong input, and the first line and the advice of the one diagnostic that it gives."""

    name: str
    text: str
    error: str
    help: str = ""
    files: dict[str, str] = field(default_factory=dict)


def clean(text: str) -> str:
    return dedent(text).lstrip("\n")


def write_project(root: Path, ops: str = OPS, derivatives: str = DERIVATIVES, **files: str) -> Path:
    """Write the input files; keyword names are paths with '/' as '__' and without '.py'."""
    named = {f"{name.replace('__', '/')}.py": text for name, text in files.items()}
    sources = {"ops.yaml": ops, "derivatives.yaml": derivatives, "mindtorch/autograd/formulas.py": FORMULAS, **named}
    for name, text in sources.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(clean(text).encode())
    return root


def load_project(root: Path, ops: str = OPS, derivatives: str = DERIVATIVES, **files: str) -> Model:
    return load(write_project(root, ops, derivatives, **files))


def diagnostics(root: Path) -> tuple[Diagnostic, ...]:
    try:
        load(root)
    except InvalidInput as error:
        return error.diagnostics
    return ()


def check_case(case: Case, root: Path) -> None:
    """The input gives exactly the diagnostic that the case says, and its caret points at the place."""
    (found,) = diagnostics(root)
    lines = str(found).splitlines()
    assert lines[0] == case.error
    assert found.hint == case.help
    assert not found.source_line or len(lines[2]) == found.location.column + 2
