"""The loader: goes through a dataset in batches."""

from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Callable, Iterable, Sized
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar, cast

from mindtorch import _utils as helpers
from mindtorch._support.warnings import warn
from mindtorch.utils.data._utils.collate import default_collate, default_convert
from mindtorch.utils.data._utils.fetch import _DatasetKind
from mindtorch.utils.data._utils.worker import get_worker_info as get_worker_info
from mindtorch.utils.data.dataset import Dataset, IterableDataset
from mindtorch.utils.data.iterators import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from mindtorch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

Item = TypeVar("Item", covariant=True)

_FIXED = frozenset(("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"))


class _InfiniteConstantSampler(Sampler):
    """The sampler of a dataset that can only be gone through."""

    def __iter__(self) -> Any:
        while True:
            yield None


class DataLoader(Generic[Item]):
    """Batches of a dataset, in order or shuffled, made in this process or by workers in processes of their own."""

    _is_initialized = False

    def __init__(
        self,
        dataset: Dataset[Item],
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
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        is_stream = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if is_stream else _DatasetKind.Map
        if is_stream:
            _check_stream_options(shuffle, sampler, batch_sampler)
        _check_batch_options(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.generator = generator
        self.drop_last = drop_last
        self.sampler = sampler if sampler is not None else self._sampler(bool(shuffle))
        self.batch_size = batch_size if batch_sampler is None else None
        if self.batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, self.batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = (
            (default_collate if self._auto_collation else default_convert) if collate_fn is None else collate_fn
        )
        self._is_initialized = True
        self._IterableDataset_len_called: int | None = None  # what `len` has said of a stream
        self._iterator: _BaseDataLoaderIter | None = None  # of a loader whose workers persist
        self.check_worker_number_rationality()

    def _sampler(self, shuffle: bool) -> Iterable:
        if self._dataset_kind == _DatasetKind.Iterable:
            return _InfiniteConstantSampler()
        dataset = cast(Sized, self.dataset)
        return RandomSampler(dataset, generator=self.generator) if shuffle else SequentialSampler(dataset)

    def __setattr__(self, attr: str, val: Any) -> None:
        if self._is_initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started; None means as Python starts processes."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, multiprocessing_context: Any) -> None:
        given = multiprocessing_context
        self._context = None if given is None else _checked_context(given, self.num_workers)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """The numbers of the items of each batch, or without batches of each item."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn of more workers than there are processors to run them."""
        available = helpers.cpu_count()
        if not self.num_workers or available is not None and self.num_workers <= available:
            return
        if available is None:
            suggestion = "DataLoader is not able to compute a suggested max number of worker in current system."
        else:
            unchecked = "" if hasattr(os, "sched_getaffinity") else " (`cpuset` is not taken into account)"
            suggestion = (
                f"Our suggested max number of worker in current system is {available}{unchecked}, which is smaller "
                "than what this DataLoader is going to create."
            )
        warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. {suggestion} Please be aware "
            "that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number "
            "to avoid potential slowness/freeze if necessary."
        )


def _checked_context(given: Any, num_workers: int) -> BaseContext:
    if num_workers <= 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(given, str):
        methods = multiprocessing.get_all_start_methods()
        if given not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={given!r}"
            )
        return multiprocessing.get_context(given)
    if not isinstance(given, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={given}"
        )
    return given


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
