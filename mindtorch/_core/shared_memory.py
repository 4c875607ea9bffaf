"""Memory that other processes can see: anonymous files and files on disk, mapped."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from mindtorch._support.lazy import lazy

tempfile = lazy("tempfile")

_PAGE = mmap.PAGESIZE
_ALIGNMENT = 64  # of what shares a file: a cache line, as everywhere else
_ARENA = 256 * _PAGE

_libc: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
if _libc is not None:
    _libc.mmap.restype = ctypes.c_void_p
    _libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    _libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    _libc.close.argtypes = (ctypes.c_int,)
_FAILED = ctypes.c_void_p(-1).value


class _Release(ref):
    """Has C functions called when a mapping goes.

    In a `__del__`, Ctrl-C would be raised, and printed, as nothing can catch it there. Here no Python code runs: a
    function of C is the callback of one reference, and the other one takes itself out of the set of all.
    """

    _as_parameter_ = 0  # callbacks get the reference, too: a number that the function does not look at
    __eq__, __hash__ = object.__eq__, object.__hash__  # those of a mapping are not the same

    releases: tuple[_Release, ...] = ()


_releases: set[_Release] = set()


def _release_with(mapping: Mapping, *calls: Callable) -> _Release:
    """Have functions called when the mapping goes, unless what is returned here is discarded before."""
    kept = _Release(mapping, _releases.discard)
    kept.releases = tuple([_Release(mapping, each) for each in calls])
    _releases.add(kept)
    return kept


class Mapping:
    """A mapped file. Arrays over it keep it alive; it keeps its file open, to be handed to another process.

    Python's `mmap` would keep a second descriptor open, and a process has only so many: it serves where there is no
    other way.
    """

    descriptor: int | None = None

    def __init__(self, descriptor: int, nbytes: int, filename: str | None = None, is_shared: bool = True) -> None:
        """`descriptor` belongs to the mapping from now on."""
        self.descriptor = descriptor
        self.nbytes = max(nbytes, 1)
        self.filename = filename
        self.is_shared = is_shared
        self._file = _release_with(self, _closing(descriptor))
        self.address, self._memory = _mapped(descriptor, self.nbytes, is_shared)
        if self._memory is None:
            _release_with(self, partial(_libc.munmap, self.address, self.nbytes))

    def close_file(self) -> None:
        """Close the file, so that the memory can no longer be handed on: for processes that run out of descriptors."""
        if self.descriptor is not None:
            _releases.discard(self._file)
            del self._file
            descriptor, self.descriptor = self.descriptor, None
            os.close(descriptor)


def _closing(descriptor: int) -> Callable:
    return partial(_libc.close, descriptor) if _libc is not None else lambda _: os.close(descriptor)


def _mapped(descriptor: int, nbytes: int, is_shared: bool) -> tuple[int, Any]:
    """The address of a file's bytes, and what holds them if they are not to be unmapped by hand."""
    if _libc is None:
        memory = mmap.mmap(descriptor, nbytes, access=mmap.ACCESS_WRITE if is_shared else mmap.ACCESS_COPY)
        return np.frombuffer(memory, np.uint8).__array_interface__["data"][0], memory
    flags = mmap.MAP_SHARED if is_shared else mmap.MAP_PRIVATE
    address = _libc.mmap(None, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, flags, descriptor, 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise RuntimeError(f"unable to mmap {nbytes} bytes from file: {os.strerror(number)} ({number})")
    return address, None


class _Part:
    """Some bytes of a mapping, for the array interface; it is the `base` of their root."""

    def __init__(self, mapping: Mapping, offset: int, nbytes: int) -> None:
        self.mapping = mapping
        self.offset = offset
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (nbytes,),
            "data": (mapping.address + offset, False),
        }


def mapping_of(root: Any) -> Mapping | None:
    """The mapping that a root lies in, if it does."""
    base = getattr(root, "base", None)
    return base.mapping if isinstance(base, _Part) else None


def offset_in_mapping(root: Any) -> int:
    """How many bytes behind the start of its mapping a root begins."""
    return root.base.offset


def root_in(mapping: Mapping, nbytes: int, offset: int = 0) -> np.ndarray:
    """Bytes of a mapping as a root."""
    return np.asarray(_Part(mapping, offset, nbytes))


# -------------------- shared memory --------------------


class _Arena(threading.local):
    """A file that small roots of a thread share: what is less than a page would take a page and a descriptor each.

    Nothing is used twice, and a file goes when the last of its roots does. A root of a page or more has a file of its
    own, so that a small one never keeps a large one's memory.
    """

    mapping: Callable[[], Mapping | None] = lambda self: None  # type: ignore[misc, assignment]
    process = used = 0

    def root(self, nbytes: int) -> np.ndarray:
        mapping = self.mapping()
        # After a fork the file is the parent's: both would give out the same bytes.
        if mapping is None or self.process != os.getpid() or self.used + nbytes > _ARENA:
            mapping = Mapping(_anonymous_file(_ARENA), _ARENA)
            self.mapping = ref(mapping)
            self.process, self.used = os.getpid(), 0
        offset = self.used
        self.used += -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        return root_in(mapping, nbytes, offset)


_arena = _Arena()


def shared_root(nbytes: int) -> np.ndarray:
    """New memory, all zeros, that processes forked from this one share, and that can be sent to others."""
    if 0 < nbytes < _PAGE:
        return _arena.root(nbytes)
    return root_in(Mapping(_anonymous_file(max(nbytes, 1)), nbytes), nbytes)


def file_of(descriptor: int) -> tuple[int, int]:
    """What all descriptors of a file have in common, and those of no other one."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _anonymous_file(nbytes: int) -> int:
    """The descriptor of a file without a name, which exists as long as a process has it open."""
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
