"""Reads files of a revision out of git, without touching the checkout, the index or a reference."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

_SUFFIXES = (".py", ".yaml", ".toml", ".jinja", ".md")
# Reading must not write either: git would refresh the index, or fetch what a partial clone lacks after asking.
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_MAIN_BRANCHES = ("origin/main", "main", "origin/master", "master")
_BRANCHES = ("refs/heads/", "refs/remotes/")
_SHORT = 10  # digits of a revision that are enough to find it


class GitError(Exception):
    """git cannot be run, or does not do what it is asked for."""


def has_revision(root: Path, revision: str) -> bool:
    """Whether the name stands for a tree in the repository that ``root`` belongs to."""
    return _tree(root, revision) is not None


def obstacle(root: Path) -> str:
    """What may be the reason that a revision is not found; "" when git sees none."""
    try:
        done = _run(root, "rev-parse", "--is-shallow-repository")
    except GitError as error:
        return str(error)
    if done.returncode:
        return done.stderr.decode(errors="replace").strip().partition("\n")[0]
    return "the clone is shallow: git fetch --unshallow gets the rest" if done.stdout.strip() == b"true" else ""


def fork_point(root: Path) -> tuple[str, str] | None:
    """Where the checked-out branch leaves the main one, or its head if it is that one: a revision, and what to call it.

    None outside of a repository, and before the first commit.
    """
    try:
        head = _line(root, "rev-parse", "--verify", "--quiet", "HEAD")
        found = (_fork_from(root, branch, head) for branch in _MAIN_BRANCHES)
        return next((each for each in found if each), (head, "HEAD") if head else None)
    except GitError:
        return None


def fork_point_from(root: Path, branch: str) -> tuple[str, str] | None:
    """Where the checked-out branch leaves another one; None if there is no branch of that name, or no such place.

    What was done on the other one since then is not part of the change.
    """
    try:
        full_name = _line(root, "rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", branch)
        head = _line(root, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        return None
    return _fork_from(root, branch, head) if full_name.startswith(_BRANCHES) else None


def _fork_from(root: Path, branch: str, head: str) -> tuple[str, str] | None:
    base = _line(root, "merge-base", branch, "HEAD")
    if not base:
        return None
    return base, "HEAD" if base == head else f"{base[:_SHORT]}, where this branch leaves {branch}"


def write_revision(root: Path, revision: str, folder: Path) -> None:
    """Write what the generator reads, as it was in ``revision`` at and below ``root``, to an empty folder."""
    _write(root, _listed(root, _known_tree(root, revision), _SUFFIXES), folder)


def write_whole_revision(root: Path, revision: str, folder: Path) -> None:
    """Write all files of a revision, at and below ``root``, to an empty folder: to run it there."""
    _write(root, _listed(root, _known_tree(root, revision), ""), folder)


def files_of_tree(root: Path) -> list[str]:
    """The files that git knows below ``root``, and new ones that it does not ignore."""
    names = _output(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    return [os.fsdecode(name) for name in names if name]


def _known_tree(root: Path, revision: str) -> str:
    tree = _tree(root, revision)
    if tree is None:
        raise GitError(f"there is no revision '{revision}'")
    return tree


def _write(root: Path, listed: Iterable[tuple[str, str]], folder: Path) -> None:
    files = dict(listed)
    for path, content in zip(files, _contents(root, list(files.values()))):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _tree(root: Path, revision: str) -> str | None:
    """The id of the revision's tree."""
    return _line(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}") or None


def _listed(root: Path, tree: str, suffixes: str | tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Paths below ``root`` and ids of the ordinary files whose names end so."""
    for entry in _output(root, "ls-tree", "-r", "-z", tree).split(b"\0")[:-1]:
        facts, _, name = entry.partition(b"\t")
        mode, _, identity = facts.decode().split(" ")
        path = os.fsdecode(name)
        if mode.startswith("100") and path.endswith(suffixes) and ".." not in PurePosixPath(path).parts:
            yield path, identity


def _contents(root: Path, identities: list[str]) -> Iterator[bytes]:
    """The files' contents: each follows a line "<id> blob <size>"."""
    data = _output(root, "cat-file", "--batch", send="\n".join(identities).encode() + b"\n")
    position = 0
    for _ in identities:
        end = data.index(b"\n", position)
        size = int(data[position:end].rpartition(b" ")[2])
        yield data[end + 1 : end + 1 + size]
        position = end + 2 + size


def _line(root: Path, *arguments: str) -> str:
    """What git answers; "" if it has no answer."""
    done = _run(root, *arguments)
    return done.stdout.decode().strip() if done.returncode == 0 else ""


def _output(root: Path, *arguments: str, send: bytes = b"") -> bytes:
    done = _run(root, *arguments, send=send)
    if done.returncode:
        raise GitError(done.stderr.decode(errors="replace").strip())
    return done.stdout


def _run(root: Path, *arguments: str, send: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, input=send, capture_output=True, env=os.environ | _ENVIRONMENT)
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror}") from error
