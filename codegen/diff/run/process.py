"""A worker process of one state, as the comparison sees it: it is asked, and answers."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from .checkouts import CannotRun, environment

_WORKER = Path(__file__).with_name("worker.py")
_LONGEST_START = 300  # seconds
_LONGEST_TASK = 120


class Side:
    """The library of a checkout, in a process that ends with the ``with`` block."""

    def __init__(self, name: str, folder: Path, samples: Path) -> None:
        self.name, self._folder, self._samples = name, folder, samples

    def __enter__(self) -> Side:
        command = [sys.executable, "-B", str(_WORKER), str(self._folder), str(self._samples)]
        self._errors = (self._folder.parent / f"{self._folder.name}.log").open("w+")
        self._process = subprocess.Popen(
            command,
            cwd=self._folder,
            env=environment(self._folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._errors.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def wait_until_ready(self) -> None:
        self._answer(_LONGEST_START)

    def ask(self, **task: Any) -> dict[str, Any]:
        """The answer to a task; raises CannotRun if the process ends or hangs."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(task) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise CannotRun(f"{self.name} has ended: {self._said()}") from None
        return self._answer(_LONGEST_TASK)

    def _answer(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise CannotRun(f"{self.name} does not answer within {seconds:g} s") from None
        if not line:
            raise CannotRun(f"{self.name} cannot be run: {self._said()}")
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise CannotRun(f"{self.name} answers with something else than a result")
        return answer

    def _said(self) -> str:
        """The last lines of its errors."""
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        return " / ".join(lines[-2:]) or "it said nothing"
