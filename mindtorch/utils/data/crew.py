"""The processes of a loader's workers, as the loader sees them: it sends them messages, and learns when one dies."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing import connection
from pickle import PicklingError
from typing import Any

from mindtorch._support.warnings import warn
from mindtorch.multiprocessing.channel import Channel, channel, packed
from mindtorch.multiprocessing.ending import alive, wait_for
from mindtorch.utils.data._utils.worker import Task, _worker_loop, ends_of_loaders

_MOMENT = 1.0  # seconds between the end of a worker's messages and its own, at most


class OutOfTime(Exception):
    """No worker has sent anything for as long as was allowed."""


class Crew:
    def __init__(self, context: Any, task: Task) -> None:
        self.processes: list[Any] = []
        self._channels: list[Channel | None] = []  # None for a worker from which nothing is wanted any more
        self.dead: set[int] = set()
        self._has_ended = False
        context = multiprocessing.get_context() if context is None else context
        try:
            for number in range(task.num_workers):
                self._start(context, task, number)
        except BaseException:
            self.end(0)
            raise

    def _start(self, context: Any, task: Task, number: int) -> None:
        here, there = channel(context)
        ends_of_loaders.add(here)
        self._channels.append(here)
        process = context.Process(target=_worker_loop, args=(task, number, there), daemon=True)
        try:
            process.start()
        except (TypeError, AttributeError, PicklingError):
            warn(
                "Got pickle error when attempting to start a worker Process. This might be because the worker Process "
                "arguments are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX "
                "platforms to 'forkserver', which requires the worker Process arguments to be picklable. You can also "
                "try multiprocessing.set_start_method('fork')."
            )
            raise
        finally:
            there.close()  # only the worker may have it: then it is closed when the worker dies
        self.processes.append(process)

    # -------------------- messages --------------------

    def send(self, worker: int, message: Any) -> None:
        end = self._channels[worker]
        parcel = packed(message)
        try:
            if end is not None:
                end.send(parcel)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it is dead: to be reported when what it was to do is waited for

    def receive(self, timeout: float | None) -> Any:
        """The next message of any worker; a RuntimeError if a worker that is still wanted has died."""
        ends = {end: number for number, end in enumerate(self._channels) if end is not None}
        sentinels: dict[Any, int] = {self.processes[number].sentinel: number for number in ends.values()}
        ready = connection.wait([*ends, *sentinels], timeout)  # type: ignore[list-item]
        if not ready:
            raise OutOfTime
        for end in ready:
            if isinstance(end, Channel):
                try:
                    parcel = end.receive()
                except (EOFError, OSError):
                    continue
                return parcel.unpacked()
        raise self._report({ends[end] if isinstance(end, Channel) else sentinels[end] for end in ready})

    def _report(self, found: set[int]) -> RuntimeError:
        """The error that says which workers have died: what is known of the first one is its cause."""
        for number in found:
            self.processes[number].join(_MOMENT)
        wanted = {number for number, end in enumerate(self._channels) if end is not None}
        died = sorted(found | {number for number in wanted if not self.processes[number].is_alive()})
        for number in died:
            self.dismiss(number)
        self.dead.update(died)
        processes = [self.processes[number] for number in died]
        numbers = ", ".join([str(process.pid) for process in processes])
        error = RuntimeError(f"DataLoader worker (pid(s) {numbers}) exited unexpectedly")
        error.__cause__ = _cause_of_death(processes[0])
        return error

    # -------------------- the end --------------------

    def dismiss(self, worker: int) -> None:
        """Let a worker end."""
        end, self._channels[worker] = self._channels[worker], None
        if end is not None:
            ends_of_loaders.discard(end)
            end.end()

    def end(self, patience: float) -> None:
        """Let all workers end; terminate those that don't within `patience` seconds."""
        if self._has_ended:
            return
        self._has_ended = True
        for number in range(len(self._channels)):
            self.dismiss(number)
        try:
            wait_for(self.processes, patience)
        finally:
            for process in alive(self.processes):
                process.terminate()
            wait_for(self.processes, patience)
            for process in alive(self.processes):
                process.kill()
                process.join()


def _cause_of_death(process: Any) -> RuntimeError | None:
    code = process.exitcode
    if not code:
        return None
    if code > 0:
        return RuntimeError(
            f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )
    message = f"DataLoader worker (pid {process.pid}) is killed by signal: {signal.strsignal(-code)}. "
    if -code == signal.SIGBUS:
        message += (
            "It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory "
            "limit."
        )
    return RuntimeError(message)
