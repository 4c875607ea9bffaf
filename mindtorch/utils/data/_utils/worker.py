"""The process of a worker: gets indices, sends batches, and ends when the loader does."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch._core.generator import default_generator
from mindtorch._core.threads import set_num_threads
from mindtorch._utils import ExceptionWrapper
from mindtorch.multiprocessing.channel import Channel, Parcel, packed
from mindtorch.utils.data._utils.fetch import _DatasetKind

if TYPE_CHECKING:
    from mindtorch.utils.data.dataset import Dataset

_MASK_32 = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker is told: its number, how many there are, its seed and its dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Dataset
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker, what it was told; None elsewhere."""
    return _worker_info


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """Sent by a worker that has come to the end of its dataset."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """Sent to workers that stay, to begin again, and back."""

    seed: int | None = None


@dataclass(frozen=True)
class Task:
    """What all workers of a loader are told at the start."""

    dataset_kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    init_fn: Callable[[int], Any] | None
    num_workers: int
    patience: float  # seconds that a worker has to finish what it does when the loader's process is gone

    def fetcher(self) -> Any:
        return _DatasetKind.create_fetcher(
            self.dataset_kind, self.dataset, self.auto_collation, self.collate_fn, self.drop_last
        )


# The loaders' open ends of channels. A forked worker has copies of them all, and as long as it has, other workers don't
# learn that the loader has closed its own. The references are strong: of garbage, the collector may finalize a
# connection before the iterator, which would then close the descriptor again, by then that of something else perhaps.
ends_of_loaders: set[Channel] = set()


def _worker_loop(task: Task, worker_id: int, channel: Channel) -> None:
    """All that a worker's process does."""
    for end in list(ends_of_loaders):
        end.close()
    ends_of_loaders.clear()
    inbox = _Inbox(channel, task.patience)
    try:
        set_num_threads(1)
        _seed(task.base_seed, worker_id)
        _Worker(task, worker_id, channel, inbox).run()
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        pass  # Ctrl-C is the main process's to handle; the others mean that it wants nothing more
    inbox.is_done.set()


def _seed(base_seed: int, worker_id: int) -> None:
    random.seed(base_seed + worker_id)
    default_generator.manual_seed(base_seed + worker_id)
    words = np.random.SeedSequence([worker_id, base_seed & _MASK_32, base_seed >> 32, 0]).generate_state(4)
    np.random.seed(words)


class _Inbox(threading.Thread):
    """Takes messages as they come, so that the loader never has to wait until a worker reads, and learns of the end."""

    def __init__(self, channel: Channel, patience: float) -> None:
        super().__init__(daemon=True)
        self._channel = channel
        self._patience = patience
        self._parent = os.getppid()
        self._messages: SimpleQueue[Parcel | None] = SimpleQueue()
        self.is_closed = False
        self.is_done = threading.Event()
        self.start()

    def run(self) -> None:
        try:
            while self._is_wanted():
                self._messages.put(self._channel.receive())
        except (EOFError, OSError):
            pass
        self.is_closed = True
        self._messages.put(None)
        # A loader waits for its workers and ends those that don't end by themselves. If it is gone, that is left to us.
        while not self.is_done.wait(self._patience):
            if os.getppid() != self._parent:
                os._exit(1)

    def _is_wanted(self) -> bool:
        """Wait for a message or the end. The end may not be seen, for other children of the loader may keep it open."""
        while not wait([self._channel], self._patience):  # type: ignore[list-item]
            if os.getppid() != self._parent:
                return False
        return True

    def next(self) -> Any:
        """The next message, or None when there is nothing more to do."""
        parcel = self._messages.get()
        return None if parcel is None or self.is_closed else parcel.unpacked()


class _Worker:
    def __init__(self, task: Task, worker_id: int, channel: Channel, inbox: _Inbox) -> None:
        self._task = task
        self._id = worker_id
        self._channel = channel
        self._inbox = inbox
        self._fetcher: Any = None
        self._failure: ExceptionWrapper | None = None
        self._has_ended = False

    def run(self) -> None:
        global _worker_info
        task = self._task
        _worker_info = WorkerInfo(self._id, task.num_workers, task.base_seed + self._id, task.dataset)
        self._begin(task.init_fn)
        while (message := self._inbox.next()) is not None:
            if isinstance(message, _ResumeIteration):
                self._send(message, None)
                self._begin(None)
            elif not self._has_ended:
                number, index = message
                self._send(number, self._batch(index))

    def _begin(self, init_fn: Callable[[int], Any] | None) -> None:
        self._has_ended, self._failure = False, None
        try:
            if init_fn is not None:
                init_fn(self._id)
            self._fetcher = self._task.fetcher()
        except Exception:  # noqa: BLE001 (raised again in the main process)
            self._failure = self._wrapped()

    def _batch(self, index: Any) -> Any:
        if self._failure is not None:
            return self._failure
        try:
            return self._fetcher.fetch(index)
        except Exception as error:  # noqa: BLE001 (raised again in the main process)
            if isinstance(error, StopIteration) and self._task.dataset_kind == _DatasetKind.Iterable:
                self._has_ended = True
                return _IterableDatasetStopIteration(self._id)
            return self._wrapped()

    def _wrapped(self) -> ExceptionWrapper:
        return ExceptionWrapper(where=f"in DataLoader worker process {self._id}")

    def _send(self, number: Any, data: Any) -> None:
        self._channel.send(self._packed(number, data))

    def _packed(self, number: Any, data: Any) -> Parcel:
        try:
            return packed((number, data))
        except Exception:  # noqa: BLE001 (what cannot be pickled is raised in the main process)
            if isinstance(data, ExceptionWrapper):
                data.exc_type = RuntimeError  # a class that cannot be found by name; the traceback names it
            else:
                data = self._wrapped()
            return packed((number, data))
