"""How a process tells its launcher of an exception, and how the launcher tells its user."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)

Result = TypeVar("Result")

_ERROR_FILE = "TORCHELASTIC_ERROR_FILE"
_NO_TRACE = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"


def record(fn: Callable[..., Result], error_handler: Any = None) -> Callable[..., Result | None]:
    """A decorator of a program's main function: the launcher shows the exception that it ends with."""

    @wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Result | None:
        try:
            return fn(*args, **kwargs)
        except SystemExit as error:
            if error.code == 0:
                return None
            raise
        except ChildFailedError as error:
            _copy(error.get_first_failure()[1].error_file)
            raise
        except Exception as error:
            record_exception(error)
            raise

    return recorded


def record_exception(error: BaseException) -> None:
    """Write an exception to the file that the launcher has named."""
    path = os.environ.get(_ERROR_FILE)
    if not path:
        return
    told = {
        "message": f"{type(error).__name__}: {error}",
        "extraInfo": {
            "py_callstack": "".join(traceback.format_exception(error)),
            "timestamp": str(int(time.time())),
        },
    }
    Path(path).write_text(json.dumps({"message": told}))


def _copy(source: str) -> None:
    path = os.environ.get(_ERROR_FILE)
    if path and source != _UNKNOWN and path != source:
        Path(path).write_text(Path(source).read_text())


_UNKNOWN = "<N/A>"


class ProcessFailure:
    """A process that has failed."""

    def __init__(self, local_rank: int, pid: int, exitcode: int, error_file: str, rank: int | None = None) -> None:
        self.local_rank = local_rank
        self.rank = local_rank if rank is None else rank
        self.pid = pid
        self.exitcode = exitcode
        told = _read(error_file)
        self.moment = Path(error_file).stat().st_mtime if told else time.time()
        self.timestamp = int(self.moment)
        self.error_file = error_file if told else _UNKNOWN
        self.error_file_data: dict[str, Any] = told
        self.message = told["message"] if told else self._message_of_code()

    def _message_of_code(self) -> str:
        return f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}" if self.exitcode < 0 else ""

    def signal_name(self) -> str:
        """The name of the signal that ended the process."""
        if self.exitcode >= 0:
            return _UNKNOWN
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return "<Unknown signal>"

    def text(self, number: int) -> str:
        """What a summary says of it."""
        trace = self.message["extraInfo"]["py_callstack"] if isinstance(self.message, dict) else self.message
        rows = {
            "time": time.strftime("%Y-%m-%d_%H:%M:%S", time.localtime(self.timestamp)),
            "host": socket.gethostname(),
            "rank": f"{self.rank} (local_rank: {self.local_rank})",
            "exitcode": f"{self.exitcode} (pid: {self.pid})",
            "error_file": self.error_file,
            "traceback": (trace or _NO_TRACE).rstrip().replace("\n", "\n    "),
        }
        return "\n".join([f"[{number}]:", *(f"  {name:<10}: {value}" for name, value in rows.items())])


def _read(path: str) -> dict[str, Any]:
    file = Path(path)
    if not path or not file.is_file():
        return {}
    try:
        return json.loads(file.read_text())
    except ValueError:  # the process was killed while it wrote
        return {}


class ChildFailedError(Exception):
    """Processes of a launcher have failed; the text names the first one, and the others."""

    def __init__(self, name: str, failures: Mapping[int, ProcessFailure]) -> None:
        if not failures:
            raise AssertionError("a ChildFailedError needs at least one failure")
        self.name = name
        self.failures = dict(failures)
        super().__init__(self.format_msg())

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """The rank and failure of the process that failed first."""
        return next(iter(self.failures.items()))

    def format_msg(self, boarder_delim: str = "=", section_delim: str = "-") -> str:
        """The summary."""
        title = f"{self.name} FAILED"
        first, *others = [each.text(number) for number, each in enumerate(self.failures.values())]
        rest = "\n".join(others) if others else "  <NO_OTHER_FAILURES>"
        width = max(len(line) for line in [title, *first.splitlines(), *rest.splitlines(), 60 * " "])
        thick, thin = boarder_delim * width, section_delim * width
        parts = [thick, title, thin, "Failures:", rest, thin, "Root Cause (first observed failure):", first, thick]
        return "\n" + "\n".join(parts)
