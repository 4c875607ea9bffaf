"""``python -m codegen snapshot [VERSION]``: note the schemas of a release, to compare later ones with."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from ..diff.compare import compare
from ..diff.release import is_enough, next_version
from ..diff.snapshots import VERSION, last_release, snapshot_path, snapshot_text
from ..diff.state import state_of
from ..diff.states import UnreadableState, read_state
from ..errors import Problems
from ..load import load
from ..model import Model
from ..rules.history_rules import project_release

HELP = "write schemas/v<version>.txt, every schema of a release, with which later states are compared"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("version", nargs="?", metavar="VERSION", help="such as 0.2.0; default: that of pyproject.toml")
    parser.add_argument("--force", action="store_true", help="overwrite a snapshot that differs")


def run(options: argparse.Namespace, root: Path) -> int:
    version = options.version.removeprefix("v") if options.version else project_release(root, Problems())
    if version is None or not VERSION.fullmatch(version):
        return _refuse(f"'{version or ''}' is no version: say which, such as 0.2.0")
    model = load(root)
    path, text = snapshot_path(root / model.project.schemas, version), snapshot_text(model)
    before = path.read_text(encoding="utf-8") if path.is_file() else None
    if before == text:
        print(f"{path} is up to date")
        return 0
    if before is not None and not options.force:
        return _refuse(f"{path} exists and differs: a release does not change; --force overwrites it")
    too_small = _is_too_small(model, root, version)
    if too_small and not options.force:
        return _refuse(f"{too_small}; `changelog` lists the changes; --force writes it all the same")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {path}")
    return 0


def _is_too_small(model: Model, root: Path, version: str) -> str:
    """Why the version does not suit what changed since the release before; "" if it does."""
    before = last_release(root / model.project.schemas, version)
    if before is None:
        return ""
    try:
        base = read_state(root, f"v{before}")
    except UnreadableState:
        return ""  # a snapshot that no longer can be read
    needed = next_version(before, compare(base, state_of("the working tree", model), date.today()))
    return "" if is_enough(version, needed) else f"what changed since {before} asks for {needed} or more, not {version}"


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return 3
