"""The command line: ``python -m codegen [write | check | stats]``. The only writer of files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .emit import emit_all
from .errors import InvalidInput
from .load import load
from .render import format_files
from .statistics import notes, statistics
from .tree import apply, compare, diff

ROOT = Path(__file__).parent.parent


def write(root: Path) -> int:
    """Write what is generated, touching only files that change, and say which. The default."""
    model = load(root)
    files = format_files(emit_all(model))
    changes = compare(root, files)
    apply(root, files, changes)
    print("\n".join([str(changes), *notes(model)]))
    return 0


def check(root: Path) -> int:
    """Write nothing; fail, with the difference, if a generated file is stale, missing or left over."""
    files = format_files(emit_all(load(root)))
    changes = compare(root, files)
    if not changes:
        print(f"all {len(files)} generated files are up to date")
        return 0
    print(
        f"generated files are not up to date: run make codegen (python -m codegen)\n{changes}",
        file=sys.stderr,
        flush=True,
    )
    sys.stdout.write(diff(root, files, changes))
    return 1


def stats(root: Path) -> int:
    """Write nothing; count ops, variants, formulas and kernels, and list what is missing."""
    print(statistics(load(root)))
    return 0


COMMANDS = {"write": write, "check": check, "stats": stats}
DESCRIPTION = "Make generated/, docs/ops/ and schemas/ from ops.yaml and derivatives.yaml."


_Plain = argparse.RawDescriptionHelpFormatter


def _explained_commands() -> str:
    lines = [f"  {name:<7}{command.__doc__}" for name, command in COMMANDS.items()]
    return "\n".join(["commands:", *lines, "", "exit status: 0, or 1 when check fails, 3 when the input has errors"])


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(
        "python -m codegen", None, DESCRIPTION, _explained_commands(), formatter_class=_Plain
    )
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="write", help="what to do (default: write)")
    command = COMMANDS[parser.parse_args(arguments).command]
    try:
        return command(root)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
