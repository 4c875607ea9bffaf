"""One state of the operators: a revision, a folder or the snapshot of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import Diagnostic
from ..model import FunctionSchema, Model, Op
from .report import Allowance
from .review import Review
from .source_files import Files


@dataclass(frozen=True, slots=True)
class AllowList:
    """The entries of schemas/allowed.yaml, and what is wrong with the others."""

    entries: tuple[Allowance, ...] = ()
    errors: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """``model`` is None for a snapshot, which has only schemas. ``is_release``: users have this state.

    ``revision`` and ``folder`` are where it is checked out from, if it is run: with neither, it is the working tree.
    ``files`` are the texts of what is written by hand, and of tests and pages; a snapshot has none.
    """

    name: str
    schemas: Mapping[str, FunctionSchema]
    model: Model | None = None
    allow_list: AllowList = AllowList()
    is_release: bool = False
    review: Review = Review()
    files: Files = field(default_factory=dict)
    revision: str | None = None
    folder: Path | None = None

    def op(self, name: str) -> Op | None:
        return self.model.ops.get(name) if self.model else None


def state_of(
    name: str, model: Model, allow_list: AllowList = AllowList(), is_release: bool = False, files: Files | None = None
) -> State:
    schemas = {op.name: op.schema for op in model.ops.values()}
    return State(name, schemas, model, allow_list, is_release, files=files or {})
