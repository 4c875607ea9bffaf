"""An example of a schema diff, for the page that shows what reviewers get: this tree, and a copy with a few changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from codegen.diff.compare import compare
from codegen.diff.formats import html
from codegen.diff.state import state_of
from codegen.load import load
from codegen.model import Model


@dataclass(frozen=True, slots=True)
class Edit:
    """What somebody changed, wherever it stands in the two files."""

    old: str
    new: str


_FILES = ("ops.yaml", "derivatives.yaml")
EDITS = (
    Edit("SymInt[1] shifts, int[1] dims=[]", "SymInt[1] shifts, int[1] dims=0"),
    Edit("dispatch: {CPU: flip, NPU: flip}", "dispatch: {CPU: flip}"),
    Edit("logsumexp(Tensor self, int[1] dim,", "logsumexp(Tensor self, int[1]? dim=None,"),
    Edit("grad * conj(1 + result.pow(2))", "grad / conj(self.cos().pow(2))"),
)


def example_diff(root: Path, model: Model) -> str:
    """The web page of the diff."""
    texts = {file: (root / file).read_text(encoding="utf-8") for file in _FILES}
    for edit in EDITS:
        if not any(edit.old in text for text in texts.values()):
            raise ValueError(f"no op has '{edit.old}' any more: choose another change in docs/builder/review.py")
        texts = {file: text.replace(edit.old, edit.new) for file, text in texts.items()}
    changed = load(root, {file: text.encode() for file, text in texts.items()})
    return html.render(compare(state_of("main", model), state_of("the change", changed), date(2000, 1, 1)))
