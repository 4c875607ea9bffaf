"""Starts the processes of a program on one machine, watches them, and starts all of them again when one fails."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from mindtorch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from mindtorch.distributed.presence import announce
from mindtorch.distributed.rendezvous import of_attempt
from mindtorch.distributed.stores import Store

_GRACE = 30.0  # seconds that processes have to end after SIGTERM
_STREAMS = (("stdout", 1), ("stderr", 2))


class SignalException(Exception):
    """The launcher was asked to end by a signal."""

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


@dataclass
class Plan:
    """What is to be run."""

    name: str
    command: Sequence[str]
    count: int
    store: Store
    environment: Mapping[str, str]
    role: str = "default"
    max_restarts: int = 0
    keep_going: bool = False
    log_dir: Path = Path()
    redirects: Mapping[int, int] = field(default_factory=dict)
    tee: Mapping[int, int] = field(default_factory=dict)
    is_tagged: bool = False
    shown: frozenset[int] | None = None


class Worker:
    """One process, and the threads that copy what it prints."""

    def __init__(self, plan: Plan, rank: int, attempt: int) -> None:
        self.rank = rank
        folder = plan.log_dir / f"attempt_{attempt}" / str(rank)
        folder.mkdir(parents=True, exist_ok=True)
        self.error_file = str(folder / "error.json")
        environment = {**os.environ, **plan.environment, **_of_rank(plan, rank, attempt, self.error_file)}
        outputs = {name: _output(plan, rank, bit, folder / f"{name}.log") for name, bit in _STREAMS}
        self.process = subprocess.Popen(plan.command, env=environment, **outputs)
        self._copying = [
            _copied(plan, rank, bit, getattr(self.process, name), folder / f"{name}.log")
            for name, bit in _STREAMS
            if outputs[name] is subprocess.PIPE
        ]
        for each in outputs.values():
            if hasattr(each, "close"):
                each.close()

    def failure(self) -> ProcessFailure:
        """What is known of its end."""
        return ProcessFailure(self.rank, self.process.pid, self.process.wait(), self.error_file)

    def finish(self) -> int:
        """Wait for its end and for what it has printed; the exit code."""
        code = self.process.wait()
        for each in self._copying:
            each.join(1.0)  # processes that it has started may keep its output open
        return code


def _of_rank(plan: Plan, rank: int, attempt: int, error_file: str) -> dict[str, str]:
    count = str(plan.count)
    return {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "ROLE_RANK": str(rank), "GROUP_RANK": "0",
        "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "ROLE_WORLD_SIZE": count, "GROUP_WORLD_SIZE": "1",
        "ROLE_NAME": plan.role,
        "TORCHELASTIC_RESTART_COUNT": str(attempt),
        "TORCHELASTIC_MAX_RESTARTS": str(plan.max_restarts),
        "TORCHELASTIC_ERROR_FILE": error_file,
    }  # fmt: skip


def _output(plan: Plan, rank: int, bit: int, path: Path) -> Any:
    if plan.tee.get(rank, 0) & bit or plan.is_tagged or (plan.shown is not None and rank not in plan.shown):
        return subprocess.PIPE
    return path.open("wb") if plan.redirects.get(rank, 0) & bit else None


def _copied(plan: Plan, rank: int, bit: int, source: BinaryIO, path: Path) -> threading.Thread:
    is_kept = bool((plan.tee.get(rank, 0) | plan.redirects.get(rank, 0)) & bit)
    target = (sys.stdout if bit == 1 else sys.stderr).buffer
    is_shown = plan.shown is None or rank in plan.shown
    prefix = f"[{plan.role}{rank}]:".encode() if plan.tee.get(rank, 0) & bit or plan.is_tagged else b""

    def copy() -> None:
        with source, path.open("wb") if is_kept else open(os.devnull, "wb") as file:
            for line in source:
                file.write(line)
                file.flush()
                if is_shown:
                    target.write(prefix + line)
                    target.flush()

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread


def run(plan: Plan) -> None:
    """Run the processes to their end; `ChildFailedError` when they fail more often than they may be started again."""
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        for attempt in range(plan.max_restarts + 1):
            failures = _attempt(plan, attempt)
            if not failures:
                return
            if attempt < plan.max_restarts:
                sys.stderr.write(f"{_restart_text(plan, attempt, failures)}\n")
        raise ChildFailedError(plan.name, failures)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise SignalException(f"Process {os.getpid()} got signal: {number}", signal.Signals(number))


def _restart_text(plan: Plan, attempt: int, failures: Mapping[int, ProcessFailure]) -> str:
    first = next(iter(failures.values()))
    left = plan.max_restarts - attempt
    return (
        f"[{plan.role}] rank {first.rank} failed with exit code {first.exitcode} (pid {first.pid}). {left}/"
        f"{plan.max_restarts} attempts left; all {plan.count} processes are started again"
    )


def _attempt(plan: Plan, attempt: int) -> dict[int, ProcessFailure]:
    """Run all processes once: the failures in their order, none if all went well."""
    workers: list[Worker] = []
    try:
        for rank in range(plan.count):
            workers.append(Worker(plan, rank, attempt))
            announce(of_attempt(plan.store, attempt), rank, workers[-1].process.pid)
        failures = _watch(plan, workers)
    finally:
        stop([each.process for each in workers])
        for each in workers:
            each.finish()
    if failures:
        # One that told of an exception may end later than those which failed because of it.
        failures |= {each.rank: each.failure() for each in workers if os.path.exists(each.error_file)}
    return dict(sorted(failures.items(), key=lambda item: item[1].moment))


def _watch(plan: Plan, workers: Sequence[Worker]) -> dict[int, ProcessFailure]:
    running = {os.pidfd_open(each.process.pid): each for each in workers}
    failures: dict[int, ProcessFailure] = {}
    try:
        while running and (plan.keep_going or not failures):
            for descriptor in ended(list(running)):
                worker = running.pop(descriptor)
                os.close(descriptor)
                if worker.process.wait():
                    failures[worker.rank] = worker.failure()
    finally:
        for descriptor in running:
            os.close(descriptor)
    # With `keep_going` it is the survivors that say how it went.
    return {} if plan.keep_going and len(failures) < plan.count and _only_signals(failures) else failures


def ended(descriptors: list[int]) -> list[int]:
    """Those of some processes that have ended; waits until there is one."""
    watched = select.poll()
    for each in descriptors:
        watched.register(each, select.POLLIN)
    return [descriptor for descriptor, _ in watched.poll()]


def _only_signals(failures: Mapping[int, ProcessFailure]) -> bool:
    return all(each.exitcode < 0 for each in failures.values())


def stop(processes: Sequence[subprocess.Popen]) -> None:
    """End processes: by SIGTERM, also those that are stopped, and by SIGKILL those that go on."""
    running = [each for each in processes if each.poll() is None]
    for each in running:
        each.terminate()
        each.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + _GRACE
    for each in running:
        try:
            each.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            each.kill()
