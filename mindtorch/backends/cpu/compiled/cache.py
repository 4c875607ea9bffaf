"""Object code in files, one for each expression, machine and version of what wrote it.

The name of a file has a hash of all that its contents depend on, so none ever changes: processes that write the same
one at once write the same. A file begins with a hash of the rest, and what is damaged counts as missing.
"""

import os
from functools import cache
from hashlib import sha256
from pathlib import Path
from pkgutil import get_data
from tempfile import NamedTemporaryFile

from mindtorch.backends.cpu.compiled import machine
from mindtorch.backends.cpu.compiled.expressions import source

_VARIABLE = "MINDTORCH_KERNELS"
_SOURCES = (
    "building.py",
    "conversion_loop.py",
    "inner_loop.py",
    "machine.py",
    "recurrence_loop.py",
    "row_loop.py",
    "scatter_loop.py",
    "values.py",
    "vector_math.py",
)
_HASH_SIZE = sha256().digest_size
_DIGITS = 24


def directory() -> Path:
    """Where the files are: what MINDTORCH_KERNELS says, or a folder in the user's cache."""
    if own := os.environ.get(_VARIABLE):
        return Path(own)
    return Path(os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache"), "mindtorch", "kernels")


@cache
def _builder() -> bytes:
    """What all files depend on: the machine and the code that writes theirs."""
    parts = [get_data(__package__, each) or b"" for each in _SOURCES]
    return sha256(b"\0".join([machine.description().encode(), *parts])).digest()


def path_of(name: str) -> Path:
    key = sha256(_builder() + source(name)).hexdigest()[:_DIGITS]
    return directory() / f"{name}-{key}.o"


def find(name: str) -> bytes | None:
    """The object code of an expression, if there is any."""
    try:
        found = path_of(name).read_bytes()
    except OSError:
        return None
    code = found[_HASH_SIZE:]
    return code if sha256(code).digest() == found[:_HASH_SIZE] else None


def store(name: str, code: bytes) -> bool:
    """Keeps object code for later; whether that was possible."""
    try:
        path = path_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, sha256(code).digest() + code)
    except OSError:
        return False
    return True


def _replace(path: Path, content: bytes) -> None:
    """Writes a file whole, or leaves everything as it was."""
    with NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def is_writable() -> bool:
    """Whether files can be added, to the folder or to the one that it is to be made in."""
    folder = directory()
    existing = next((each for each in (folder, *folder.parents) if each.exists()), None)
    return existing is not None and existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
