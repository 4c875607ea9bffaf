"""``python -m codegen write``: make the generated files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ..emit import emit_all
from ..errors import Problems
from ..load import load
from ..model import Model
from ..render import format_files
from ..sources.own_calls import check_own_calls
from ..statistics import notes
from ..tree import Changes, apply, compare

HELP = "write what is generated, touching only files that change, and say which (the default)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none: what is written follows from the input files alone."""


def run(options: argparse.Namespace, root: Path) -> int:
    model = load(root)
    print("\n".join([str(generate(model)), *notes(model), *_calls_to_change(model)]))
    return 0


def _calls_to_change(model: Model) -> Iterator[str]:
    """What `check` will not let pass: it can be mended when the functions are there."""
    problems = Problems()
    check_own_calls(model, problems)
    yield from (f"note: {found.location}: {found.message}: {found.hint}" for found in problems.diagnostics)


def generate(model: Model) -> Changes:
    """Bring the generated files up to date."""
    files = format_files(emit_all(model))
    changes = compare(model.project, files)
    apply(model.project.root, files, changes)
    return changes
