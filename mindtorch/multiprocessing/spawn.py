"""Several processes that run one function, as `torch.multiprocessing.spawn` starts them."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import connection
from typing import Any

from mindtorch._support.warnings import warn
from mindtorch.multiprocessing.ending import alive, wait_for

log = logging.getLogger(__name__)

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"

_PR_SET_PDEATHSIG = 1
_PATIENCE = 30.0  # seconds that a process has to end after SIGTERM


class ProcessException(Exception):
    """A process of `start_processes` failed."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """Its function raised an exception."""


class ProcessExitedException(ProcessException):
    """It ended by a signal, or with a code of its own."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


# -------------------- in the new process --------------------


def prctl_pr_set_pdeathsig(number: int) -> None:
    """On Linux, have this process sent a signal when the one that started it ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def _run(fn: Callable[..., Any], index: int, args: tuple, error_file: str) -> None:
    prctl_pr_set_pdeathsig(signal.SIGINT)
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # whoever started the processes ends them
    except Exception:  # noqa: BLE001 (raised again in the process that waits for this one)
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


# -------------------- in the process that started it --------------------


class ProcessContext:
    """Processes that run, and the files in which they leave their tracebacks."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends: True when all have. If one failed, end the others, and raise its error.

        After a failure the others have `grace_period` seconds to end by themselves.
        """
        if not self.sentinels:
            return True
        for sentinel in connection.wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end_all(grace_period)
                raise self._error_of(self._first_to_raise(index))
        return not self.sentinels

    def _end_all(self, grace_period: float | None) -> None:
        if grace_period is not None:
            wait_for(self.processes, grace_period)
        for process in alive(self.processes):
            log.warning("Terminating process %s via signal SIGTERM", process.pid)
            process.terminate()
        wait_for(self.processes, _PATIENCE if grace_period is None else grace_period)
        for process in alive(self.processes):
            log.warning("Unable to shutdown process %s via SIGTERM , forcefully exiting via SIGKILL", process.pid)
            process.kill()
        for process in self.processes:
            process.join()

    def _first_to_raise(self, index: int) -> int:
        """Of those that have left a traceback, the first: others that fail because of it may end before."""
        if not os.access(self.error_files[index], os.R_OK):
            return index  # which has ended without one: what the others raise came of that
        told = [each for each, path in enumerate(self.error_files) if os.access(path, os.R_OK)]
        return min(told, key=lambda each: os.stat(self.error_files[each]).st_mtime_ns)

    def _error_of(self, index: int) -> ProcessException:
        process, path = self.processes[index], self.error_files[index]
        if not os.access(path, os.R_OK):
            return _exit_of(process, index)
        with open(path, "rb") as file:
            trace = pickle.load(file)
        os.unlink(path)
        message = f"\n\n-- Process {index:d} terminated with the following error:\n{trace}"
        return ProcessRaisedException(message, index, process.pid)


def _exit_of(process: Any, index: int) -> ProcessExitedException:
    code = process.exitcode
    if code >= 0:
        message = f"process {index:d} terminated with exit code {code:d}"
        return ProcessExitedException(message, error_index=index, error_pid=process.pid, exit_code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"<Unknown signal {-code}>"
    message = f"process {index:d} terminated with signal {name}"
    return ProcessExitedException(message, index, process.pid, code, name)


class SpawnContext(ProcessContext):
    """The old name of `ProcessContext`."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        warn("SpawnContext is renamed to ProcessContext since 1.4 release.")
        super().__init__(processes, error_files)


# -------------------- starting --------------------


def start_processes(
    fn: Callable[..., Any],
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Start `nprocs` processes that call `fn(index, *args)`. With `join`, wait for them and raise what they raise."""
    context = multiprocessing.get_context(start_method)

    def start(index: int) -> tuple[Any, str]:
        path = _unused_path()
        process = context.Process(target=_run, args=(fn, index, args, path), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        return process, path

    if start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1":
        with ThreadPoolExecutor(max_workers=nprocs) as executor:
            started = list(executor.map(start, range(nprocs)))
    else:
        started = [start(index) for index in range(nprocs)]
    running = ProcessContext([process for process, _ in started], [path for _, path in started])
    if not join:
        return running
    while not running.join():
        pass
    return None


def _unused_path() -> str:
    """Where a process can leave a file: there is none yet, for a file means that there was an exception."""
    descriptor, path = tempfile.mkstemp(prefix="pytorch-errorfile-", suffix=".pickle")
    os.close(descriptor)
    os.unlink(path)
    return path


def spawn(
    fn: Callable[..., Any],
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes` with new interpreters."""
    if start_method != "spawn":
        warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:"
            "\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
