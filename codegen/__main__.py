"""The command line: ``python -m codegen [check | stats]``. The only writer of files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from codegen.emit import emit_all
from codegen.errors import InvalidInput
from codegen.load import load
from codegen.render import format_files
from codegen.statistics import statistics
from codegen.tree import apply, compare, diff

ROOT = Path(__file__).parent.parent


def write(root: Path) -> int:
    """Write generated/ and what else is generated; only files that change are touched."""
    files = format_files(emit_all(load(root)))
    changes = compare(root, files)
    apply(root, files, changes)
    print(changes)
    return 0


def check(root: Path) -> int:
    """Fail, with a patch, if a generated file is stale, missing or an orphan."""
    files = format_files(emit_all(load(root)))
    changes = compare(root, files)
    if not changes:
        print(f"all {len(files)} generated files are up to date")
        return 0
    sys.stdout.write(diff(root, files, changes))
    print(f"generated files are not up to date: run python -m codegen\n{changes}", file=sys.stderr)
    return 1


def stats(root: Path) -> int:
    """Count ops, variants, formulas and kernels, and list what is missing."""
    print(statistics(load(root)))
    return 0


COMMANDS = {"write": write, "check": check, "stats": stats}


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="python -m codegen", description=__doc__)
    parser.add_argument("command", nargs="?", choices=sorted(COMMANDS), default="write")
    command = COMMANDS[parser.parse_args(arguments).command]
    try:
        return command(root)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
