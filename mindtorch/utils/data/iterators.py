"""What `iter(loader)` gives: one way through the dataset, in this process or with workers."""

from __future__ import annotations

import itertools
import os
import sys
from typing import Any

from mindtorch import accelerator
from mindtorch._support.warnings import warn
from mindtorch._utils import ExceptionWrapper
from mindtorch.profiler.profile import record_function
from mindtorch.utils.data import _utils
from mindtorch.utils.data._utils.fetch import _DatasetKind
from mindtorch.utils.data._utils.pin_memory import pin_memory
from mindtorch.utils.data._utils.worker import Task, _IterableDatasetStopIteration, _ResumeIteration
from mindtorch.utils.data.crew import Crew, OutOfTime
from mindtorch.utils.data.sampler import draw_seed


class _BaseDataLoaderIter:
    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = _is_memory_pinned(loader)
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0
        self._profile_name = f"enumerate(DataLoader)#{type(self).__name__}.__next__"

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        with record_function(self._profile_name):
            data = self._next_data()
            if self._pin_memory:
                data = pin_memory(data)
            self._num_yielded += 1
            if self._dataset_kind == _DatasetKind.Iterable:
                self._check_length()
            return data

    def _check_length(self) -> None:
        said = self._IterableDataset_len_called
        if said is None or self._num_yielded <= said:
            return
        message = (
            f"Length of IterableDataset {self._dataset} was reported to be {said}(when accessing len(dataloader)), but "
            f"{self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warn(message)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


def _is_memory_pinned(loader: Any) -> bool:
    """Whether batches go to pinned memory, which takes an accelerator."""
    if loader.pin_memory and loader.pin_memory_device:
        warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
            f"pin_memory_device='{loader.pin_memory_device}'."
        )
    if loader.pin_memory and not accelerator.is_available():
        warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."
        )
    return loader.pin_memory and accelerator.is_available()


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Of a loader without workers."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Of a loader with workers. Batches are numbered: each is given to the next worker and comes back when ready."""

    _crew: Any = None  # until the workers are there

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._crew = Crew(loader.multiprocessing_context, self._task(loader))
        self._process = os.getpid()
        self._reset(loader, first_iter=True)

    def _task(self, loader: Any) -> Task:
        return Task(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            self._base_seed,
            loader.worker_init_fn,
            self._num_workers,
            _utils.MP_STATUS_CHECK_INTERVAL,
        )

    @property
    def _workers(self) -> list[Any]:
        return [] if self._crew is None else self._crew.processes

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._send_idx = 0  # the number of the next batch
        self._assigned: dict[int, int] = {}  # batches that were not yet returned, in order, and their workers
        self._arrived: dict[int, Any] = {}  # those that came before their turn
        self._is_active = [True] * self._num_workers
        self._workers_num_tasks = [0] * self._num_workers
        self._turns = itertools.cycle(range(self._num_workers))
        if not first_iter:
            self._resume()
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _resume(self) -> None:
        """Have workers that stayed begin again; what they still had to give of the last time is dropped."""
        for worker in range(self._num_workers):
            self._crew.send(worker, _ResumeIteration())
        missing = self._num_workers
        while missing:
            number, _ = self._get_data()
            missing -= isinstance(number, _ResumeIteration)

    # -------------------- giving out --------------------

    def _try_put_index(self) -> None:
        """Give the next batch to a worker, if there is one and a worker for it."""
        try:
            index = self._next_index()
        except StopIteration:
            return
        worker = self._next_worker()
        if worker is None:
            return
        self._crew.send(worker, (self._send_idx, index))
        self._assigned[self._send_idx] = worker
        self._workers_num_tasks[worker] += 1
        self._send_idx += 1

    def _next_worker(self) -> int | None:
        """The one whose turn it is; unless batches are to be in order, one that has not more than its share to do."""
        most = self._prefetch_factor * self._num_workers
        for worker in itertools.islice(self._turns, self._num_workers):
            if self._is_active[worker] and (
                self._in_order or self._workers_num_tasks[worker] < most // sum(self._is_active)
            ):
                return worker
        return None

    # -------------------- getting back --------------------

    def _next_data(self) -> Any:
        while True:
            number = self._next_number()
            if number in self._arrived:
                return self._process_data(number, self._arrived.pop(number))
            came, data = self._get_data()
            if isinstance(data, _IterableDatasetStopIteration):
                self._retire(data.worker_id)
                self._try_put_index()
            elif came == number or not self._in_order:
                return self._process_data(came, data)
            else:
                self._arrived[came] = data

    def _next_number(self) -> int:
        """The first batch that there will be: workers at the end of their data leave out what they were given."""
        for number, worker in list(self._assigned.items()):
            if number in self._arrived or self._is_active[worker]:
                return number
            del self._assigned[number]
        if not self._persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def _get_data(self) -> Any:
        try:
            return self._crew.receive(self._timeout or None)
        except OutOfTime:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None
        finally:
            for worker in self._crew.dead:
                self._is_active[worker] = False

    def _process_data(self, number: int, data: Any) -> Any:
        self._workers_num_tasks[self._assigned.pop(number)] -= 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    # -------------------- ends --------------------

    def _retire(self, worker: int) -> None:
        self._is_active[worker] = False
        if not self._persistent_workers:
            self._crew.dismiss(worker)

    def _shutdown_workers(self) -> None:
        if self._crew is not None and self._process == os.getpid() and not _utils.python_exit_status:
            self._crew.end(_utils.MP_STATUS_CHECK_INTERVAL)

    def __del__(self, is_finalizing: Any = sys.is_finalizing) -> None:
        if not is_finalizing():  # workers end by themselves when this process has
            self._shutdown_workers()
