"""How many threads are used: by the matrix routines, and by loops over large arrays, which share a pool.

NumPy brings its own OpenBLAS, which is told through ctypes. Its other loops release the GIL while they run, so that
several of them run at once.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import cache
from typing import Any

import numpy as np

from mindtorch._support import errors
from mindtorch._support.lazy import lazy

futures = lazy("concurrent.futures")
pathlib = lazy("pathlib")


@cache
def _openblas() -> Any:
    """The OpenBLAS that NumPy has loaded; None when NumPy was built with something else."""
    site_packages = pathlib.Path(np.__file__).parent.parent
    for folder in ("numpy.libs", "numpy/.dylibs"):
        for path in (site_packages / folder).glob("libscipy_openblas64_*"):
            return ctypes.CDLL(str(path))
    return None


# -------------------- how many --------------------

_asked_for: int | None = None  # what set_num_threads was told


def set_num_threads(num: int) -> None:
    """Let matrix routines and loops over large arrays use `num` threads."""
    global _asked_for
    if not isinstance(num, int) or isinstance(num, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {errors.type_name(num)}")
    if num <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _asked_for = num
    library = _openblas()
    if library is not None:
        library.scipy_openblas_set_num_threads64_(num)


def get_num_threads() -> int:
    """How many threads matrix routines and loops over large arrays use."""
    return _asked_for or _default_threads()


@cache
def _default_threads() -> int:
    """What OpenBLAS has read from the environment, or else the number of processors."""
    library = _openblas()
    return os.cpu_count() or 1 if library is None else library.scipy_openblas_get_num_threads64_()


# -------------------- loops --------------------


class _Worker(threading.local):
    """Whether this thread works on a part of a loop already: loops within it are not divided further."""

    is_busy = False


_worker = _Worker()


def chunks(begin: int, end: int, grain_size: int, threads: int) -> list[tuple[int, int]]:
    """The range cut into at most `threads` equal parts, none but the last smaller than `grain_size`."""
    parts = min(threads, -(-(end - begin) // max(grain_size, 1)))
    size = -(-(end - begin) // max(parts, 1)) or 1
    return [(start, min(start + size, end)) for start in range(begin, end, size)]


def parallel_for(begin: int, end: int, grain_size: int, function: Callable[[int, int], Any]) -> None:
    """Calls `function(begin, end)` for the parts of a range, each in a thread; the first error is raised at the end."""
    parts = chunks(begin, end, grain_size, 1 if _worker.is_busy else get_num_threads())
    if len(parts) < 2:
        for part in parts:
            function(*part)
        return
    # Each in a copy of the caller's context, where NumPy has its error state.
    others = [_pool().submit(copy_context().run, _work, function, *part) for part in parts[1:]]
    try:
        _work(function, *parts[0])
    finally:
        futures.wait(others)
    for other in others:
        other.result()


def _work(function: Callable[[int, int], Any], begin: int, end: int) -> None:
    was_busy, _worker.is_busy = _worker.is_busy, True
    try:
        function(begin, end)
    finally:
        _worker.is_busy = was_busy


@cache
def _pool() -> Any:
    """Threads that are started when there is work for them, and stay."""
    return futures.ThreadPoolExecutor(max_workers=256, thread_name_prefix="mindtorch")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads don't live on in the child
