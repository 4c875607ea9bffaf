"""An example of a schema diff, for the page that shows what reviewers get: a few ops, and the same after a change.

The ops are files of their own, so that a change of mindtorch's does not make it another example.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from codegen.diff.compare import compare
from codegen.diff.formats import html
from codegen.diff.state import state_of
from codegen.load import load


@dataclass(frozen=True, slots=True)
class Edit:
    """What a change touched, wherever it stands in the two files."""

    old: str
    new: str


_FOLDER = Path(__file__).parent / "review_example"
_FILES = ("ops.yaml", "derivatives.yaml")
EDITS = (
    Edit("SymInt[1] shifts, int[1] dims=[]", "SymInt[1] shifts, int[1] dims=0"),
    Edit("dispatch: {CPU: flip, NPU: flip}\n  aclnn: aclnnFlip(self, dims, out)\n", "dispatch: {CPU: flip}\n"),
    Edit("logsumexp(Tensor self, int[1] dim,", "logsumexp(Tensor self, int[1]? dim=None,"),
    Edit("grad * (1 + result * result)", "grad * (1 + tan(self) * tan(self))"),
)


def example_diff() -> str:
    """The web page of the diff."""
    changed = load(_FOLDER, {file: _changed(_FOLDER / file) for file in _FILES})
    return html.render(compare(state_of("main", load(_FOLDER)), state_of("the change", changed), date(2000, 1, 1)))


def _changed(file: Path) -> bytes:
    text = file.read_text(encoding="utf-8")
    for edit in EDITS:
        text = text.replace(edit.old, edit.new)
    return text.encode()
