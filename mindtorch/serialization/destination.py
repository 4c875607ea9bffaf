"""Where a file is written: into a new one, which takes the place of the old one when it is complete.

Whatever happens before that, a killed process or a full disk, the old file is whole. What a plain `open` would not
replace is written in place: pipes and devices, open files of a process (`/dev/stdout`), files with several names, and
files in a folder, or of an owner, for which a new file cannot be made alike.
"""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def destination(path: str) -> Iterator[BinaryIO]:
    """A file to write to, which is at the path when the block ends without an exception."""
    target = os.path.realpath(path)
    before = _opened_before(path)
    temporary = None if before is not None and _stays_in_place(path, before) else _made_beside(target, before)
    if temporary is None:
        with open(path, "wb") as file:
            yield file
        return
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(target))


def _opened_before(path: str) -> os.stat_result | None:
    """What is at the path, None if there is nothing. The error of a plain `open` if it may not be written to."""
    try:
        before = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(before.st_mode) or stat.S_ISDIR(before.st_mode):
        os.close(os.open(path, os.O_WRONLY))
    return before


def _stays_in_place(path: str, before: os.stat_result) -> bool:
    return not stat.S_ISREG(before.st_mode) or before.st_nlink != 1 or _is_open_file(path)


def _is_open_file(path: str) -> bool:
    """Whether a path names a file that a process has open, as `/dev/stdout` and `/dev/fd/3` do."""
    for _ in range(40):  # as many links as Linux follows
        folder = os.path.realpath(os.path.dirname(path))
        if folder.startswith("/proc/") or folder == "/dev/fd":
            return True
        if not os.path.islink(path):
            return False
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return False


def _made_beside(target: str, before: os.stat_result | None) -> str | None:
    """A new file in the folder of another, with its owner and permissions; None if that cannot be."""
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.partial")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError:
        return None  # a plain `open` may be possible, or says what is wrong
    try:
        is_alike = before is None or _made_alike(descriptor, target, before)
    finally:
        os.close(descriptor)
    if not is_alike:
        os.unlink(temporary)
    return temporary if is_alike else None


def _made_alike(descriptor: int, target: str, before: os.stat_result) -> bool:
    """Give a new file the owner, permissions and extended attributes of an old one, if that is allowed."""
    try:
        now = os.fstat(descriptor)
        if hasattr(os, "fchown") and (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            os.fchown(descriptor, before.st_uid, before.st_gid)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
        for name in os.listxattr(target) if hasattr(os, "listxattr") else ():
            os.setxattr(descriptor, name, os.getxattr(target, name))
    except OSError:
        return False
    return True


def _sync_folder(folder: str) -> None:
    """Have the new name on the disk, too, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def archive_name(path: str) -> str:
    """The folder inside the archive of a file: its name without the last suffix."""
    return Path(path).name.rpartition(".")[0] or Path(path).name
