"""The files of both states in a temporary folder, to be run there: never over the tree that people work in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..git import GitError, files_of_tree, write_whole_revision

_LONGEST_GENERATION = 600  # seconds


class CannotRun(Exception):
    """A state cannot be run; the text says why."""


def check_out(root: Path, revision: str | None, folder: Path) -> Path:
    """Write a revision, or the working tree as it is now, to an empty folder."""
    try:
        if revision is not None:
            write_whole_revision(root, revision, folder)
        else:
            _copy_tree(root, folder)
    except GitError as error:
        raise CannotRun(f"cannot check out {revision or 'the working tree'}: {error}") from error
    return folder


def copy_folder(source: Path, folder: Path) -> Path:
    """A state that is a folder: its files, but for what tools leave there."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "node_modules", "*.egg-info")
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=ignored)
    return folder


def _copy_tree(root: Path, folder: Path) -> None:
    """What git knows of the tree, and new files that it does not ignore."""
    for path in files_of_tree(root):
        source, target = root / path, folder / path
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def generate(folder: Path) -> None:
    """Have the checkout's own generator write its generated files."""
    command = [sys.executable, "-m", "codegen", "--project", str(folder)]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment(folder), capture_output=True, timeout=_LONGEST_GENERATION
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"its generator takes longer than {_LONGEST_GENERATION} s") from None
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-3:]
        raise CannotRun(f"its generator fails: {' / '.join(last)}")


def environment(folder: Path) -> dict[str, str]:
    """Of processes that run a checkout: its files come first. Each has one thread, so that times can be compared."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSTARTUP")}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return kept | threads | {"PYTHONPATH": str(folder), "PYTHONNOUSERSITE": "1"}


def differing_inputs(base: Path, head: Path) -> bool:
    """Whether the two checkouts differ in what is generated from: then the generated files of HEAD may be stale."""
    return any(_content(base, path) != _content(head, path) for path in _inputs(base, head))


def _inputs(*folders: Path) -> Iterator[str]:
    for folder in folders:
        yield from (path.name for path in folder.glob("*.yaml"))
        yield from (
            path.relative_to(folder).as_posix() for path in (folder / "codegen").rglob("*") if path.suffix != ".pyc"
        )


def _content(folder: Path, path: str) -> bytes | None:
    file = folder / path
    return file.read_bytes() if file.is_file() else None
