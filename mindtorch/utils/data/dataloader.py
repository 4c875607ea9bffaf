"""The loader: goes through a dataset in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from mindtorch.utils.data.collate import default_collate, default_convert
from mindtorch.utils.data.dataset import Dataset, IterableDataset
from mindtorch.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed


class DataLoader:
    """Batches of a dataset, in order or shuffled. Everything happens in the calling process."""

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
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        _check_batch_options(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.generator = generator
        self.drop_last = drop_last
        self.sampler = sampler if sampler is not None else self._sampler(bool(shuffle))
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
            self.batch_size: int | None = batch_size
        else:
            self.batch_size = None
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

    def _sampler(self, shuffle: bool) -> Iterable:
        if isinstance(self.dataset, IterableDataset):
            if shuffle:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
                )
            return _Endless()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        # torch draws a seed for its workers first, even if there are none: later draws must agree.
        draw_seed(self.generator)
        if isinstance(self.dataset, IterableDataset):
            return self._batches_of_stream()
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        fetch = getattr(self.dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            items = fetch(indices) if fetch else [self.dataset[index] for index in indices]
            yield self.collate_fn(items)

    def _batches_of_stream(self) -> Iterator[Any]:
        items = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, items)
            return
        while batch := list(islice(items, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            length = len(self.dataset)
            if self.batch_size is None:
                return length
            return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


class _Endless:
    """The sampler of a dataset that can only be gone through."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


def _check_batch_options(
    batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
