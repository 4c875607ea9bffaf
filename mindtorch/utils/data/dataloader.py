"""The loader: goes through a dataset in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from mindtorch.utils.data.collate import default_collate, default_convert
from mindtorch.utils.data.dataset import Dataset, IterableDataset
from mindtorch.utils.data.iterators import (
    _BaseDataLoaderIter,
    _DatasetKind,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from mindtorch.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed
from mindtorch.utils.data.worker import Worker, batches, batches_of_streams
from mindtorch.utils.data.worker import get_worker_info as get_worker_info


class DataLoader:
    """Batches of a dataset, in order or shuffled. Workers, if there are any, take turns in the calling process."""

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if isinstance(dataset, IterableDataset):
            _check_stream_options(shuffle, sampler, batch_sampler)
        _check_batch_options(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self._workers: list[Worker] = []
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        self._iterator: _BaseDataLoaderIter | None = None  # of a loader whose workers persist
        self.generator = generator
        self.drop_last = drop_last
        self.sampler = sampler if sampler is not None else self._sampler(bool(shuffle))
        self.batch_size = batch_size if batch_sampler is None else None
        if self.batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, self.batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

    def _sampler(self, shuffle: bool) -> Iterable:
        if isinstance(self.dataset, IterableDataset):
            return _Endless()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """The numbers of the items of each batch, or without batches of each item."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Iterator[Any]:
        iterator = self._get_iterator()
        if self.persistent_workers and self.num_workers:
            self._iterator = iterator
        return iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        kind = _MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter
        return kind(self, self._batches())

    def _batches(self) -> Iterator[Any]:
        if self._workers:
            return self._batches_of_workers(self._workers)
        # torch draws a seed for its workers first, even if there are none: later draws must agree.
        seed = draw_seed(self.generator)
        if self.num_workers:
            return self._batches_of_workers(self._new_workers(seed))
        if isinstance(self.dataset, IterableDataset):
            return self._batches_of_stream()
        return (self._fetch(self.dataset, wanted) for wanted in self._index_sampler)

    def _fetch(self, dataset: Any, wanted: Any) -> Any:
        if self.batch_sampler is None:
            return self.collate_fn(dataset[wanted])
        fetch = getattr(dataset, "__getitems__", None)
        return self.collate_fn(fetch(wanted) if fetch else [dataset[index] for index in wanted])

    def _batches_of_stream(self) -> Iterator[Any]:
        items = iter(self.dataset)  # type: ignore[call-overload]
        if self.batch_size is None:
            yield from map(self.collate_fn, items)
            return
        while batch := list(islice(items, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def _new_workers(self, seed: int) -> list[Worker]:
        count, init = self.num_workers, self.worker_init_fn
        workers = [Worker(number, count, seed, self.dataset, init) for number in range(count)]
        if self.persistent_workers:
            self._workers = workers
        return workers

    def _batches_of_workers(self, workers: list[Worker]) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            return batches_of_streams(workers, self.batch_size, self.drop_last, self.collate_fn)
        return batches(workers, iter(self._index_sampler), self._fetch)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            length = len(self.dataset)
            if self.batch_size is None:
                return length
            return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        return len(self._index_sampler)


class _Endless:
    """The sampler of a dataset that can only be gone through."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream_options(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


def _check_batch_options(
    batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
