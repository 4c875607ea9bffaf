"""Workers of a loader. They take turns in the calling process: each has its own random numbers and its own dataset.

What a loader with workers gives is what torch gives for the same seed: the batches in order. A dataset without numbers
is gone through once by each worker, and asks `get_worker_info` which share of it to give.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from mindtorch.generator import default_generator
from mindtorch.utils.data.dataset import Dataset

_MASK_32 = 0xFFFF_FFFF


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker is told: its number, how many there are, its seed and its dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Dataset
    worker_method: str | None = None


_present: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker, what it was told; None elsewhere."""
    return _present


class Worker:
    """One worker: while it works, the random numbers are its own."""

    def __init__(self, number: int, count: int, base_seed: int, dataset: Dataset, init: Callable | None) -> None:
        self.info = WorkerInfo(number, count, base_seed + number, copy.copy(dataset))
        with _kept_random_state():
            _seed(base_seed, number)
            self._states = _random_states()
        if init is not None:
            with self.at_work():
                init(number)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Within this block `get_worker_info` and all random numbers are the worker's."""
        global _present
        with _kept_random_state():
            before, _present = _present, self.info
            _set_random_states(self._states)
            try:
                yield
            finally:
                self._states = _random_states()
                _present = before


def _seed(base_seed: int, number: int) -> None:
    random.seed(base_seed + number)
    default_generator.manual_seed(base_seed + number)
    words = np.random.SeedSequence([number, base_seed & _MASK_32, base_seed >> 32, 0]).generate_state(4)
    np.random.seed(words)


def _random_states() -> tuple[Any, Any, Any]:
    return default_generator.clone_state(), random.getstate(), np.random.get_state()


def _set_random_states(states: tuple[Any, Any, Any]) -> None:
    own, python, numpy = states
    default_generator.graphsafe_set_state(own)
    random.setstate(python)
    np.random.set_state(numpy)


@contextmanager
def _kept_random_state() -> Iterator[None]:
    states = _random_states()
    try:
        yield
    finally:
        _set_random_states(states)


# -------------------- what they give --------------------


def batches(workers: list[Worker], indices: Iterator[Any], fetch: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """The batches of a dataset with numbered items: each goes to the next worker."""
    for number, wanted in enumerate(indices):
        worker = workers[number % len(workers)]
        with worker.at_work():
            batch = fetch(worker.info.dataset, wanted)
        yield batch


def batches_of_streams(
    workers: list[Worker], batch_size: int | None, drop_last: bool, collate: Callable[[Any], Any]
) -> Iterator[Any]:
    """The batches of a dataset that each worker goes through, in turns, until all have come to the end."""
    streams = []
    for worker in workers:
        with worker.at_work():
            streams.append((worker, iter(worker.info.dataset)))  # type: ignore[call-overload]
    while streams:
        for worker, stream in list(streams):
            with worker.at_work():
                items = list(islice(stream, 1 if batch_size is None else batch_size))
                is_short = batch_size is not None and len(items) < batch_size
                is_given = bool(items) and not (is_short and drop_last)
                batch = collate(items[0] if batch_size is None else items) if is_given else None
            if is_given:
                yield batch
            if not is_given:
                streams.remove((worker, stream))
