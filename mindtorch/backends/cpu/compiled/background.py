"""The process that compiles what a run has missed, for the next one: this one goes on with NumPy's loops meanwhile."""

import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock

from mindtorch.backends.cpu.compiled import cache

COMMAND = ("-m", "mindtorch.kernels", "build", "--in-background")
_LOCK = "build.lock"
_LONGEST = 600  # seconds after which a builder has been ended by something

_lock = Lock()
_started: list[subprocess.Popen[bytes]] = []


def start() -> None:
    """Has everything compiled that is missing, by one process at the lowest priority; at most once."""
    with _lock:
        if _started or not sys.executable or getattr(sys, "frozen", False) or not cache.is_writable():
            return
        if is_locked():
            return
        process = subprocess.Popen(
            [sys.executable, *COMMAND],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=_environment(),
        )
        _started.append(process)


def _environment() -> dict[str, str]:
    """Ours, in which the builder finds this library and asks for no loops itself."""
    root = str(Path(__file__).parents[4])
    paths = [root, *[each for each in sys.path if each]]
    return {**os.environ, "MINDTORCH_JIT": "0", "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def _lock_path() -> Path:
    return cache.directory() / _LOCK


def is_locked() -> bool:
    """Whether another process is building."""
    try:
        return time.time() - _lock_path().stat().st_mtime < _LONGEST
    except OSError:
        return False


def take_lock() -> bool:
    """Whether this process may build; it has to call `release_lock` then."""
    if not is_locked():
        _lock_path().unlink(missing_ok=True)
    try:
        _lock_path().parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(_lock_path(), os.O_CREAT | os.O_EXCL))
    except OSError:
        return False
    return True


def release_lock() -> None:
    _lock_path().unlink(missing_ok=True)
