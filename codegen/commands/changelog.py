"""``python -m codegen changelog BASE..HEAD``: release notes from what the diff finds."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from ..diff.compare import compare
from ..diff.release import calls_of_breaks, notes
from ..diff.snapshots import VERSION
from ..diff.states import UnreadableState, last_release_state, read_state, working_tree

HELP = "write release notes from what changed between two states, and say which version number that asks for"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    states = "two states as of diff, v0.1.0..v0.2.0; without HEAD, the working tree; default: since the last release"
    parser.add_argument("states", nargs="?", metavar="BASE..HEAD", help=states)
    callers = "a package whose calls of what breaks are listed; may be given several times. Nothing of it is run"
    parser.add_argument("--callers", action="append", default=[], type=Path, metavar="FOLDER", help=callers)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the notes to a file")


def run(options: argparse.Namespace, root: Path) -> int:
    base_name, _, head_name = (options.states or "").partition("..")
    try:
        base = read_state(root, base_name) if base_name else last_release_state(root)
        head = read_state(root, head_name) if head_name else working_tree(root)
    except UnreadableState as error:
        print(error, file=sys.stderr)
        return 3
    report = compare(base, head, date.today())
    version = base.name.removeprefix("v")
    before = version if VERSION.fullmatch(version) else None
    text = notes(report, before, calls_of_breaks(report, options.callers))
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text, encoding="utf-8", newline="\n")
    return 0
