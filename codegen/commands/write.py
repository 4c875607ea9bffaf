"""``python -m codegen write``: make the generated files."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..emit import emit_all
from ..load import load
from ..model import Model
from ..render import format_files
from ..statistics import notes
from ..tree import Changes, apply, compare

HELP = "write what is generated, touching only files that change, and say which (the default)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none: what is written follows from the input files alone."""


def run(options: argparse.Namespace, root: Path) -> int:
    model = load(root)
    print("\n".join([str(generate(model)), *notes(model)]))
    return 0


def generate(model: Model) -> Changes:
    """Bring the generated files up to date."""
    files = format_files(emit_all(model))
    changes = compare(model.project, files)
    apply(model.project.root, files, changes)
    return changes
