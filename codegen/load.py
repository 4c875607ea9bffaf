"""Builds the model from the input files.

``load`` either returns a complete, valid model or raises InvalidInput with every problem it found.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .errors import Problems
from .model import Model, grouped
from .project_file import read_project
from .read.decompositions import with_decompositions
from .read.derivative_entries import DerivativeEntry, DerivativeReader
from .read.op_entries import OpEntry, read_ops
from .rules.validate import validate
from .sources.hand_written import HandWritten, read_hand_written

OPS_FILE = "ops.yaml"
DERIVATIVES_FILE = "derivatives.yaml"


ACLNN = ("E130", "E131", "E132", "E133", "E134")
# Problems of what is not finished, or does not fit. The model does not depend on them.
UNFINISHED = ("E036", "E038", "E043", "E044", "E045", "E046", "E047", "E048", "E049", "E072", "E073", "E074", *ACLNN)


@contextmanager
def _without_collections() -> Iterator[None]:
    """No garbage collections: nearly all objects of which a model is made stay, and to look through them again and
    again takes a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_without_collections()
def load(root: Path, unsaved: Mapping[str, bytes] | None = None, but_for: Collection[str] = ()) -> Model:
    """The model of the input files under ``root``; raises InvalidInput.

    ``unsaved`` is the content of files that is to be read instead of what is on disk, by path below ``root``.
    ``but_for`` are the codes of problems that do not matter.
    """
    problems = Problems(first=(OPS_FILE, DERIVATIVES_FILE), unsaved=unsaved)
    project = read_project(root, problems)
    problems.raise_if_any()  # everything else depends on where the files are
    hand_written = read_hand_written(project, problems)
    ops = with_decompositions(read_ops(hand_written, problems), hand_written, problems)
    if not ops or hand_written.is_broken:
        problems.raise_if_any()  # what refers to a file that cannot be read is not wrong itself
    derivatives = DerivativeReader(ops, hand_written, problems).read(root / project.derivatives, project.derivatives)
    validate(ops, derivatives, hand_written, problems)
    problems.raise_if_any(but_for)
    return _model(ops, derivatives, hand_written)


def _model(entries: list[OpEntry], derivatives: list[DerivativeEntry], hand_written: HandWritten) -> Model:
    ops = {op.name: op for entry in entries for op in entry.ops}
    return Model(
        ops=ops,
        derivatives={entry.derivative.op.name: entry.derivative for entry in derivatives},
        families=grouped((op.family, op) for op in ops.values()),
        groups=grouped((op.schema.name, op) for op in ops.values() if op.kind != "out"),
        kernels=hand_written.kernels,
        composites=hand_written.composites,
        project=hand_written.project,
        helpers={name: helper.module for name, helper in hand_written.helpers.items()},
        helper_files={name: helper.file for name, helper in hand_written.helpers.items()},
        parts={name: (helper.module, helper.file) for name, helper in hand_written.parts.items()},
        sources=hand_written.sources,
        extensions=hand_written.extensions,
        signatures=hand_written.signatures,
        batching=hand_written.rules["batch"].names or frozenset(),
        variants={(op.derived_from, op.kind): op for op in ops.values() if op.derived_from and not op.is_copied_out},
    )
