"""``python -m codegen stats``: how much there is, and what is missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..load import load
from ..statistics import statistics

HELP = "write nothing; count ops, variants, formulas and kernels, and list what is missing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def run(options: argparse.Namespace, root: Path) -> int:
    print(statistics(load(root)))
    return 0
