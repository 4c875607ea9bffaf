"""Changes of the frozen project that look like pull requests, and what the schema diff has to say of each."""

import re
from collections.abc import Callable
from dataclasses import dataclass

OPS, DERIVATIVES, ALLOWED = "ops.yaml", "derivatives.yaml", "schemas/allowed.yaml"
POINTWISE, INDEXING, REDUCTION = (
    f"mindtorch/backends/cpu/{name}.py" for name in ("pointwise", "indexing", "reduction")
)

ROLL = "roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor"
LEAKY_RELU = "leaky_relu(Tensor self, Scalar negative_slope=0.01)"
DIAGONAL = "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)"
CUMSUM = "cumsum(Tensor self, int dim"
HALVE = """
- func: halve(Tensor self) -> Tensor
  family: pointwise
  variants: function, method
  dispatch: {CPU: absolute}
"""

Edit = tuple[str, Callable[[str], str]]


@dataclass(frozen=True)
class Branch:
    """A pull request. The diff has ops and rules, ``found``, and every format has the words ``says``."""

    name: str
    edits: tuple[Edit, ...]
    verdict: str
    code: int
    found: tuple[tuple[str, str], ...] = ()
    says: tuple[str, ...] = ()


def change(file: str, old: str, new: str) -> Edit:
    """Replace a text, which must be there, wherever it occurs."""

    def edit(text: str) -> str:
        assert old in text, f"{file} has no {old!r}"
        return text.replace(old, new)

    return file, edit


def change_schema(old: str, new: str) -> tuple[Edit, Edit]:
    return change(OPS, old, new), change(DERIVATIVES, old, new)


def without_entry(file: str, head: str) -> Edit:
    """Remove the entry that begins with a text."""

    def edit(text: str) -> str:
        shorter = re.sub(rf"^- \w+: {re.escape(head)}.*?\n(?=\n|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
        assert shorter != text, f"{file} has no entry {head!r}"
        return shorter

    return file, edit


def append(file: str, added: str) -> Edit:
    return file, lambda text: text + added


def allow(op: str, rule: str, expires: str) -> Edit:
    """An entry in the allow-list, which says `[]` while it has none."""
    entry = f"\n- op: {op}\n  rule: {rule}\n  reason: agreed upon\n  expires: {expires}\n"
    return ALLOWED, lambda text: text.removesuffix("[]\n") + entry


RENAME_ARGUMENT = (
    *change_schema(ROLL, ROLL.replace("dims", "axes")),
    change(DERIVATIVES, "roll_backward(grad, shifts, dims)", "roll_backward(grad, shifts, axes)"),
    change(INDEXING, "def roll(input, shifts, dims=()):", "def roll(input, shifts, axes=()):\n    dims = axes"),
)
CHANGE_DEFAULT = (
    *change_schema(LEAKY_RELU, LEAKY_RELU.replace("0.01", "0.02")),
    change(POINTWISE, "negative_slope: Number = 0.01", "negative_slope: Number = 0.02"),
)
RETURN_COPY = (
    *change_schema(DIAGONAL, DIAGONAL.replace("(a)", "")),
    change(OPS, "  view: single\n  dispatch: {CPU: diagonal}", "  dispatch: {CPU: diagonal}"),
)
SPELL_TYPE = CUMSUM.replace("int", "SymInt")
KEEP_INPUT = (change(DERIVATIVES, "self: tanh_backward(grad, result)", "self: tanh_backward(grad, tanh(self))"),)
REMOVE_OP = without_entry(OPS, ROLL), without_entry(DERIVATIVES, ROLL)
LOSE_METHOD = (change(OPS, f"{ROLL}\n  family: indexing\n  variants: function, method", f"{ROLL}\n  family: indexing"),)

BRANCHES = [
    Branch("rename-an-argument", RENAME_ARGUMENT, "breaking", 1, (("roll", "S018"),), ("dims", "axes")),
    Branch("change-a-default", CHANGE_DEFAULT, "breaking", 1, (("leaky_relu", "S040"),), ("0.01", "0.02")),
    Branch("return-a-copy", RETURN_COPY, "breaking", 1, (("diagonal", "V002"),), ("view",)),
    Branch("lose-a-kernel", (change(REDUCTION, "def cumsum(", "def _cumsum("),), "breaking", 1, (("cumsum", "B001"),)),
    Branch("drop-a-formula", (without_entry(DERIVATIVES, "log2("),), "breaking", 1, (("log2", "D002"),)),
    Branch("keep-an-input", KEEP_INPUT, "breaking", 1, (("tanh", "M001"), ("tanh", "D012")), ("self",)),
    Branch("remove-an-op", REMOVE_OP, "breaking", 1, (("roll", "S001"),)),
    Branch("rename-an-op", change_schema(f": {ROLL}", f": rolls{ROLL[4:]}"), "breaking", 1, (("roll", "S003"),)),
    Branch("lose-a-method", LOSE_METHOD, "breaking", 1, (("roll", "P022"),)),
    Branch("add-an-op", (append(OPS, HALVE),), "compatible", 0, (("halve", "S002"),)),
    Branch("change-a-comment", (change(OPS, "# The operators of", "# All operators of"),), "text", 0),
    Branch("change-a-spelling", change_schema(CUMSUM, SPELL_TYPE), "text", 0, (("cumsum", "S024"),)),
    Branch("accept-more", change_schema(CUMSUM, f"{CUMSUM[:-4]}? dim"), "forward-only", 2, (("cumsum", "S020"),)),
    Branch(
        "allow-a-break", (*CHANGE_DEFAULT, allow("leaky_relu", "S040", "2999-01-01")),
        "compatible", 0, (("leaky_relu", "S040"),), ("agreed upon",),
    ),
    Branch(
        "allow-it-no-longer", (*CHANGE_DEFAULT, allow("leaky_relu", "S040", "2001-01-01")),
        "breaking", 1, (("leaky_relu", "S040"),), ("expired",),
    ),
]  # fmt: skip
BROKEN = Branch("break-the-file", (change(OPS, "- func: roll(", "- func roll("),), "", 3)
