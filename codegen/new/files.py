"""The files of a project as they would be: on top of those on disk, what has been changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class Files:
    """Texts by path below the root. Line ends and a byte order mark stay as they are."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._changed: dict[str, bytes] = {}

    @property
    def changed(self) -> Mapping[str, bytes]:
        return self._changed

    def read(self, file: str) -> str | None:
        """The text of a file; None when there is no such file."""
        if file in self._changed:
            return self._changed[file].decode()
        return self.on_disk(file)

    def on_disk(self, file: str) -> str | None:
        path = self._root / file
        return path.read_bytes().decode() if path.is_file() else None

    def change(self, file: str, text: str) -> None:
        self._changed[file] = text.encode()
