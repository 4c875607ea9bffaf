"""Memory that other processes can see: anonymous files and files on disk, mapped."""

import errno
import mmap
import os
import tempfile
from typing import Any

import numpy as np


class Mapping(mmap.mmap):
    """A mapped file. Arrays over it keep it alive; it keeps its file open, to be handed to another process."""

    descriptor: int
    filename: str | None
    is_shared: bool

    def __new__(cls, descriptor: int, nbytes: int, filename: str | None = None, is_shared: bool = True) -> Any:
        """`descriptor` belongs to the mapping from now on."""
        access = mmap.ACCESS_WRITE if is_shared else mmap.ACCESS_COPY
        self = super().__new__(cls, descriptor, max(nbytes, 1), access=access)
        self.descriptor = descriptor
        self.filename = filename
        self.is_shared = is_shared
        return self

    def __del__(self) -> None:
        os.close(self.descriptor)


def mapping_of(root: Any) -> Mapping | None:
    """The mapping that a root lies in, if it does."""
    base = getattr(root, "base", None)
    return base if isinstance(base, Mapping) else None


def root_in(mapping: Mapping, nbytes: int) -> np.ndarray:
    """The bytes of a mapping as a root."""
    return np.ndarray(nbytes, np.uint8, mapping)


def shared_root(nbytes: int) -> np.ndarray:
    """New memory that processes forked from this one share, and that can be sent to others."""
    return root_in(Mapping(_anonymous_file(max(nbytes, 1)), nbytes), nbytes)


def _anonymous_file(nbytes: int) -> int:
    """The descriptor of a file without a name, which exists as long as somebody has it open."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("mindtorch")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, nbytes)
    return descriptor


def root_of_file(filename: str, is_shared: bool, nbytes: int) -> np.ndarray:
    """The first bytes of a file. If shared, writes go to the file, which grows to that size if it is smaller."""
    flags = os.O_RDWR | os.O_CREAT if is_shared else os.O_RDONLY
    try:
        descriptor = os.open(filename, flags, 0o600)
    except OSError as error:
        mode = "read-write" if is_shared else "read-only"
        raise _file_error(f"unable to open file <{filename}> in {mode} mode", error.errno or 0) from None
    _make_room(descriptor, filename, is_shared, nbytes)
    if not nbytes:
        os.close(descriptor)
        return np.empty(0, np.uint8)
    return root_in(Mapping(descriptor, nbytes, filename, is_shared), nbytes)


def _make_room(descriptor: int, filename: str, is_shared: bool, nbytes: int) -> None:
    size = os.fstat(descriptor).st_size
    if nbytes >= 0 and (is_shared or size >= nbytes):
        if size < nbytes:
            os.truncate(descriptor, nbytes)
        return
    os.close(descriptor)
    if nbytes < 0:
        raise _file_error(f"unable to mmap {nbytes} bytes from file <{filename}>", errno.ENOMEM)
    raise RuntimeError(f"file <{filename}> size <{size}> is smaller than the required mapping size <{nbytes}>")


def _file_error(what: str, number: int) -> RuntimeError:
    return RuntimeError(f"{what}: {os.strerror(number)} ({number})")
