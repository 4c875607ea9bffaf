"""The small project that the cases of the schema diff change, and what a case is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from codegen.diff.compare import compare
from codegen.diff.report import Report
from codegen.diff.snapshots import read_snapshot
from codegen.diff.source_files import read_files
from codegen.diff.state import State, state_of
from codegen.load import UNFINISHED, load
from tests.codegen.project import write_project

TODAY = date(2026, 7, 1)

OPS = """
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  family: pointwise
  variants: function, method
  autogen: inplace, out
  numbers: other
  operators: __mul__, __imul__
  promotion: default
  shape: broadcast
  dispatch: {CPU: mul, NPU: mul}
  aclnn: aclnnMul(self, other, out); by hand
  tags: core, pointwise

- func: sum.dim(Tensor self, int[1] dim, bool keepdim=False, *, ScalarType? dtype=None, float? scale=None) -> Tensor
  family: reduction
  variants: function, method
  dtypes: number_real
  dispatch: {CPU: sum_dim}

- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  family: reduction
  out: max.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices)
    -> (Tensor(a!) values, Tensor(b!) indices)
  dispatch: {CPU: max_dim}

- func: cat(Tensor[] tensors, int dim=0) -> Tensor
  family: indexing
  dispatch: {CPU: cat}

- func: select.int(Tensor(a) self, int dim, int index) -> Tensor(a)
  family: view
  variants: function, method
  view: single
  dispatch: {CPU: select}

- func: full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Device? device=None) -> Tensor
  family: factory
  factory: true
  dispatch: {CPU: full}

- func: dropout(Tensor input, float p=0.5, bool train=True, float scale=1) -> Tensor
  family: nn
  python_module: nn
  dispatch: {CPU: dropout}

- func: fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)
  family: indexing
  variants: method
  dispatch: {CPU: fill_diagonal_}

- func: item(Tensor self) -> Scalar
  family: reduction
  variants: method
  dispatch: {CPU: item}

- func: square(Tensor self) -> Tensor
  family: pointwise
  composite: square

- func: exp(Tensor self) -> Tensor
  family: pointwise
  variants: function, method
  dispatch: {CPU: exp}

- func: round.decimals(Tensor self, *, int decimals, bool even=True) -> Tensor
  family: pointwise
  python: hidden
  dispatch: {CPU: round}
"""
DERIVATIVES = """
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self: grad * other
  other: grad * self
  result: self_t * other_p + other_t * self_p

- name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  self: multiply(grad, indices.shape, keepdim)
  output_differentiability: [True, False]
  when: keepdim

- name: cat(Tensor[] tensors, int dim=0) -> Tensor
  tensors: multiply(grad, dim)

- name: select.int(Tensor(a) self, int dim, int index) -> Tensor(a)
  self: multiply(grad, index)

- name: dropout(Tensor input, float p=0.5, bool train=True, float scale=1) -> Tensor
  input: non_differentiable

- name: exp(Tensor self) -> Tensor
  self: not_implemented
"""
POINTWISE = """
def mul(input, other, out=None): ...


def exp(input): ...
"""
# Parts of these files that several cases replace.
EXP = """- func: exp(Tensor self) -> Tensor
  family: pointwise
  variants: function, method
  dispatch: {CPU: exp}
"""
EXP_KERNEL = "def exp(input): ..."
EXP_DERIVATIVE = """- name: exp(Tensor self) -> Tensor
  self: not_implemented
"""
SELECT = "  self: multiply(grad, index)\n"


@dataclass(frozen=True)
class DiffCase:
    """A change, and the finding of rule ``code`` about ``op``.

    ``edits``      what stands in the input files before and after
    ``old_edits``  the same for the state before the change
    ``source``     a file of hand-written code, and what is in it before and after
    ``snapshots``  instead: the one schema of two snapshots, where ops.yaml does not allow such schemas
    ``remedy``     None for the rule's own
    ``reported``   every op that is reported, with the codes of its findings; () if there is only the one finding
    """

    code: str
    op: str
    message: str
    caller: str = ""
    remedy: str | None = None
    edits: tuple[tuple[str, str], ...] = ()
    old_edits: tuple[tuple[str, str], ...] = ()
    source: tuple[str, ...] = ()
    snapshots: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.code} {self.note}".strip()


def case_report(case: DiffCase, folder: Path) -> Report:
    """What the diff says of a case; its files are written to the folder, which need not exist."""
    base, head = _snapshots(case, folder) if case.snapshots else _projects(case, folder)
    return compare(base, head, TODAY)


def _snapshots(case, folder):
    paths = [folder / "v0.1.0.txt", folder / "v0.2.0.txt"]
    folder.mkdir(parents=True, exist_ok=True)
    for path, schema in zip(paths, case.snapshots):
        path.write_text(f"{schema}\n")
    return [State(path.stem, read_snapshot(path, path.name)) for path in paths]


def _projects(case, folder):
    file, before, after = case.source or ("", "", "")
    old, new = _project(case.old_edits, file, before), _read(write_case(folder, case.edits, file, after))
    return [state_of(name, model, files=files) for name, (model, files) in (("v0.1.0", old), ("the working tree", new))]


def _read(root):
    return load(root, but_for=UNFINISHED), read_files(root, "mindtorch", "generated")


@cache
def _project(edits, file, code):
    """The project before a change; most cases share it."""
    with TemporaryDirectory() as folder:
        return _read(write_case(Path(folder), edits, file, code))


def write_case(root: Path, edits: tuple[tuple[str, str], ...] = (), file: str = "", code: str = "") -> Path:
    """The project with some texts replaced, wherever they stand, and perhaps another file."""
    texts = [OPS, DERIVATIVES, POINTWISE]
    for before, after in edits:
        assert any(before in text for text in texts), before
        texts = [text.replace(before, after) for text in texts]
    ops, derivatives, pointwise = texts
    others = {file.removesuffix(".py").replace("/", "__"): code} if file else {}
    return write_project(root, ops, derivatives, **{"mindtorch__backends__cpu__pointwise": pointwise} | others)
