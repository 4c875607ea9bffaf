"""The command line: ``python -m codegen [COMMAND]``. The commands are in ``commands/``; only they write files."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from . import requirements as requirements  # first: it says what to install for the rest
from .commands import changelog, check, diff, init, new, snapshot, stats, write
from .errors import InvalidInput
from .project_file import find_root


class Command(Protocol):
    """What a module in ``commands/`` has."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace, root: Path) -> int: ...


COMMANDS: dict[str, Command] = {
    "init": init,
    "write": write,
    "check": check,
    "new": new,
    "diff": diff,
    "snapshot": snapshot,
    "changelog": changelog,
    "stats": stats,
}
PROGRAM = "python -m codegen" if __package__ == "codegen" else "mindtorch-codegen"
DESCRIPTION = "Make the operator layer of mindtorch, or of a package of yours, from ops.yaml and derivatives.yaml."
EXIT_STATUS = (
    "exit status: 0; 1 when check fails or diff finds a break; 2 when diff finds only what older versions do not "
    "understand, or for a wrong command line; 3 when the input has errors"
)


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(PROGRAM, description=DESCRIPTION, epilog=EXIT_STATUS)
    parser.add_argument(
        "--project", type=Path, metavar="DIR", help="the project's folder (default: that of the current folder)"
    )
    parser.set_defaults(run=write.run, find_root=find_root)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(
            name, help=command.HELP, description=f"{command.HELP[0].upper()}{command.HELP[1:]}."
        )
        subparser.set_defaults(run=command.run)
        command.add_arguments(subparser)
    return parser


def main(arguments: Sequence[str] | None = None, root: Path | None = None) -> int:
    options = argument_parser().parse_args(arguments)
    try:
        return int(options.run(options, options.project or root or options.find_root(Path.cwd())))
    except InvalidInput as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(*filter(None, (error.filename, error.strerror)), sep=": ", file=sys.stderr)
    return 3


if __name__ == "__main__":
    gc.disable()  # nothing that is read becomes garbage before the end: looking for it takes a fifth of the time
    sys.exit(main())
