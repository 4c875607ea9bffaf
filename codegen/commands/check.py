"""``python -m codegen check``: are the generated files what the input files say?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..emit import emit_all
from ..errors import Problems
from ..load import load
from ..render import format_files
from ..sources.own_calls import check_own_calls
from ..tree import compare, diff

HELP = (
    "write nothing; fail, with the difference, if a generated file is stale, missing or left over, "
    "or if the library calls ops that are gone"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def run(options: argparse.Namespace, root: Path) -> int:
    model = load(root)
    problems = Problems()
    check_own_calls(model, problems)
    problems.raise_if_any()
    files = format_files(emit_all(model))
    changes = compare(model.project, files)
    if not changes:
        print(f"all {len(files)} generated files are up to date")
        return 0
    print(
        f"generated files are not up to date: run {model.project.command}\n{changes}",
        file=sys.stderr,
        flush=True,
    )
    sys.stdout.write(diff(root, files, changes))
    return 1
