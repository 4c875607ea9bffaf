"""What `iter(loader)` gives: one way through the dataset, which knows how long it is and how far it has got."""

from collections.abc import Iterator
from typing import Any


class _DatasetKind:
    """How items are found: by number, or one after the other."""

    Map = 0
    Iterable = 1


class _BaseDataLoaderIter:
    def __init__(self, loader: Any, batches: Iterator[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0
        self._batches = batches

    def __iter__(self) -> "_BaseDataLoaderIter":
        return self

    def __next__(self) -> Any:
        batch = next(self._batches)
        self._num_yielded += 1
        return batch

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Of a loader without workers."""


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Of a loader with workers, which take turns in the calling process."""
