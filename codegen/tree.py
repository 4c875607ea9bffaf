"""The generated files on disk: what differs from what should be there, and putting it right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

# Every file that matches is generated; one that is not is an orphan.
PATTERNS = ("generated/**/*", "docs/ops/**/*", "schemas/*.schema.json")
_NOT_OURS = ("__pycache__", ".mypy_cache", ".ruff_cache")


@dataclass(frozen=True, slots=True)
class Changes:
    """How the files on disk differ from those that should be there, by path."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.created or self.updated or self.removed)

    def __str__(self) -> str:
        kinds = {"created": self.created, "updated": self.updated, "removed": self.removed}
        lines = [f"{kind} {path}" for kind, paths in kinds.items() for path in paths]
        return "\n".join(lines) or "nothing has changed"


def compare(root: Path, files: Mapping[str, str]) -> Changes:
    present = set(_present(root))
    return Changes(
        created=tuple(sorted(files.keys() - present)),
        updated=tuple(sorted(path for path in files.keys() & present if _read(root / path) != files[path])),
        removed=tuple(sorted(present - files.keys())),
    )


def _present(root: Path) -> list[str]:
    found = (path for pattern in PATTERNS for path in root.glob(pattern) if path.is_file())
    return [path.relative_to(root).as_posix() for path in found if not set(path.parts) & set(_NOT_OURS)]


def _read(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")


def apply(root: Path, files: Mapping[str, str], changes: Changes) -> None:
    """Write what is new or different and remove the rest."""
    for path in (*changes.created, *changes.updated):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files[path].encode())
    for path in changes.removed:
        (root / path).unlink()
        _remove_empty(root / path)


def _remove_empty(path: Path) -> None:
    """Remove the folders that a removed file leaves empty."""
    for folder in path.parents:
        if any(folder.iterdir()):
            return
        folder.rmdir()


def diff(root: Path, files: Mapping[str, str], changes: Changes) -> str:
    """What ``apply`` would do, as a patch."""
    return "".join(
        _file_diff(path, _read(root / path) if (root / path).is_file() else "", files.get(path, ""))
        for path in sorted((*changes.created, *changes.updated, *changes.removed))
    )


def _file_diff(path: str, before: str, after: str) -> str:
    lines = unified_diff(before.splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
