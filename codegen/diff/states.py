"""Finds and reads the states that are compared: git revisions, folders, snapshots of releases, the working tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os.path import isdir, isfile
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TypeVar

from ..errors import InvalidInput, Problems
from ..load import UNFINISHED, load
from ..project import Project
from ..project_file import read_project
from .allowed import FILE, read_allow_list
from .git import GitError, fork_point, fork_point_from, has_revision, obstacle, write_revision
from .review import FILE as REVIEW
from .review import Review, read_review
from .snapshots import last_release, read_snapshot, snapshot_path
from .source_files import read_files
from .state import State, state_of

WORKING_TREE = "the working tree"
_T = TypeVar("_T")


class UnreadableState(Exception):
    """A state that is not there or that has errors; the text says which state, and what is wrong."""


def working_tree(root: Path) -> State:
    return _located(WORKING_TREE, lambda: _folder(root, WORKING_TREE))


def start_of_change(root: Path) -> State:
    """What the work that is going on began with; the last release where there is no repository."""
    found = fork_point(root)
    return _fork(root, *found) if found else last_release_state(root)


def base_of_change(root: Path, name: str) -> State:
    """What a change is compared with: the state of that name, of a branch the place where this one leaves it."""
    found = None if _is_project(Path(name)) else fork_point_from(root, name)
    return _fork(root, *found) if found else read_state(root, name)


def _fork(root: Path, revision: str, name: str) -> State:
    return replace(_located(name, lambda: _revision(root, revision, is_release=False)), name=name)


def last_release_state(root: Path) -> State:
    """The last release: its tag, which has everything, or else its snapshot."""
    folder = _schema_folder(root)
    version = last_release(folder)
    if version is None:
        raise UnreadableState(f"there is no snapshot of a release in {folder}: say what to compare with")
    return read_state(root, f"v{version}")


def read_state(root: Path, name: str) -> State:
    """The state of that name: a snapshot's file, a folder, a revision, or the snapshot of a release."""
    return _located(name, lambda: _read(root, name))


def _read(root: Path, name: str) -> State:
    if not name:
        raise UnreadableState("the name of a state is empty")
    path, snapshot = Path(name), snapshot_path(_schema_folder(root), name.removeprefix("v"))
    if _is_project(path):
        return replace(_folder(path, name), folder=path)
    if _has_revision(root, name):
        return _revision(root, name, is_release=isfile(snapshot))
    for file in (path, snapshot):
        if isfile(file):  # which takes any name, unlike Path.is_file
            return _snapshot(file, name)
    reason = obstacle(root)
    raise UnreadableState(
        f"cannot read '{name}': it is no git revision here{f' ({reason})' if reason else ''}, no folder with ops.yaml, "
        "and no snapshot of a release"
    )


def _has_revision(root: Path, name: str) -> bool:
    """Outside of a repository, and without git, there are no revisions."""
    try:
        return has_revision(root, name)
    except GitError:
        return False


def _is_project(path: Path) -> bool:
    return isdir(path) and isfile(path / _project(path).ops)


def _project(root: Path) -> Project:
    problems = Problems()
    project = read_project(root, problems)
    problems.raise_if_any()
    return project


def _schema_folder(root: Path) -> Path:
    return root / _project(root).schemas


def review_of(root: Path) -> Review:
    """How strictly rules are taken in the working tree."""
    file = f"{_project(root).schemas}/{REVIEW}"
    return read_review(root / file, file)


def _snapshot(path: Path, name: str) -> State:
    return State(name, read_snapshot(path, str(path)), is_release=True)


def _folder(root: Path, name: str, is_release: bool = False) -> State:
    model = load(root, but_for=UNFINISHED)  # what a change breaks is worth knowing before its kernels are mended
    file = f"{model.project.schemas}/{FILE}"
    files = read_files(root, str(PurePosixPath(model.project.sources, model.project.package)), model.project.generated)
    list_of_rules = f"{model.project.schemas}/{REVIEW}"
    state = state_of(name, model, read_allow_list(root / file, file), is_release, files)
    return replace(state, review=read_review(root / list_of_rules, list_of_rules))


def _revision(root: Path, name: str, is_release: bool) -> State:
    with TemporaryDirectory(prefix="mindtorch-diff-") as folder:
        write_revision(root, name, Path(folder))
        return replace(_folder(Path(folder), name, is_release), revision=name)


def _located(name: str, read: Callable[[], _T]) -> _T:
    """Run ``read``; say in which state an error is."""
    try:
        return read()
    except InvalidInput as error:
        raise UnreadableState(f"in {name}: {error}") from error
    except GitError as error:
        raise UnreadableState(f"cannot read {name}: {error}") from error
