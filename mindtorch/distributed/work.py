"""`Work`: a collective or a message that is under way."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from mindtorch._core.tensor import Tensor
from mindtorch.distributed.engines.communicator import EngineError, Request
from mindtorch.distributed.flight_recorder import RECORDER, Entry
from mindtorch.futures import Future

if TYPE_CHECKING:
    from mindtorch.distributed.process_group import ProcessGroup


class Work:
    """A collective that was asked for with `async_op=True`. Its tensors are read and written until `wait` returns."""

    def __init__(self, outputs: list[Tensor]) -> None:
        self._outputs = outputs
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._future: Future = Future()
        self.at_end: Callable[[], None] | None = None  # what `wait` does when it has ended

    def is_completed(self) -> bool:
        """Whether it has ended, well or not."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Whether it has ended without an error."""
        return self.is_completed() and self._error is None

    def exception(self) -> BaseException | None:
        """The error that it ended with."""
        return self._error

    def result(self) -> list[Tensor]:
        """The tensors that it has written."""
        return self._outputs

    def source_rank(self) -> int:
        raise RuntimeError(
            "sourceRank() may only be called on work objects that correspond to a recv or recv-from-any call."
        )

    _source_rank = source_rank

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the end; an error of the collective is raised."""
        seconds = None if not timeout else timeout.total_seconds()
        if not self._done.wait(seconds):
            milliseconds = int(1000 * (seconds or 0))
            raise RuntimeError(
                f"Operation timed out! Timed out waiting {milliseconds}ms for the collective to complete"
            )
        if self._error is not None:
            raise self._error
        if self.at_end is not None:
            self.at_end()
        return True

    def synchronize(self) -> None:
        self.wait()

    def get_future(self) -> Future:
        """The tensors as a future."""
        return self._future

    def _finish(self, error: BaseException | None) -> None:
        self._error = error
        self._done.set()
        if error is None:
            self._future.set_result(self._outputs)
        else:
            self._future.set_exception(error)


class Message(Work):
    """A message that is under way; who waits for it drives it."""

    def __init__(
        self,
        group: ProcessGroup,
        request: Request,
        tensor: Tensor,
        finish: Callable[[Request], None],
        entry: Entry | None = None,
    ) -> None:
        super().__init__([tensor])
        self._group = group
        self._request = request
        self._at_end = finish
        self._entry = entry

    def is_completed(self) -> bool:
        if not self._done.is_set():
            self._try()
        return self._done.is_set()

    def source_rank(self) -> int:
        """The rank in the group that a received message came from."""
        return self._request.source

    _source_rank = source_rank

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the message to arrive or, when it was sent, to be taken."""
        limit = (timeout or self._group.timeout).total_seconds()
        deadline = time.monotonic() + limit
        tries = 0
        while not self._done.is_set():
            self._try()
            tries += 1
            if tries > _TRIES:
                self._rest(deadline, limit)
        if self._error is not None:
            raise self._error
        return True

    def _rest(self, deadline: float, limit: float) -> None:
        if time.monotonic() > deadline:
            self._request.cancel()
            text = f"Timed out waiting {int(1000 * limit)}ms for a message to complete"
            self._finish(RuntimeError(text))
        time.sleep(_REST)

    def _try(self) -> None:
        try:
            if self._request.test():
                self._at_end(self._request)
                RECORDER.completed(self._entry)
                self._finish(None)
        except EngineError as error:
            self._finish(self._group.failed(error))
        except RuntimeError as error:
            self._finish(error)


_TRIES = 2000  # a message on one machine takes a microsecond or two
_REST = 20e-6


class Queue:
    """The thread that runs the asynchronous collectives of a group, in their order."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._last: Work | None = None
        self._thread = threading.Thread(target=self._run, name=f"collectives of {name}", daemon=True)
        self._thread.start()

    def add(self, work: Work, call: Callable[[], None]) -> Work:
        self._last = work
        self._calls.put((work, call))
        return work

    def drain(self) -> None:
        """Wait until everything has run; errors stay with their work."""
        last = self._last
        if last is not None:
            last._done.wait()

    def close(self) -> None:
        self._calls.put(None)

    def _run(self) -> None:
        while (entry := self._calls.get()) is not None:
            work, call = entry
            try:
                call()
            except Exception as error:  # noqa: BLE001 (whatever it is, who waits for the work gets it)
                work._finish(error)
            else:
                work._finish(None)
