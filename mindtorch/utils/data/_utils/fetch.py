"""How a loader, or a worker of one, gets the items of a batch from the dataset."""

from collections.abc import Callable
from typing import Any


class _BaseDatasetFetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """By number."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        fetch = getattr(self.dataset, "__getitems__", None)
        if fetch:
            return self.collate_fn(fetch(possibly_batched_index))
        return self.collate_fn([self.dataset[index] for index in possibly_batched_index])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """One after the other; only the number of indices counts."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        items = self._next_items(len(possibly_batched_index))
        is_short = len(items) < len(possibly_batched_index)
        if not items or self.drop_last and is_short:
            raise StopIteration
        return self.collate_fn(items)

    def _next_items(self, count: int) -> list[Any]:
        items = []
        for _ in range(count):
            try:
                items.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        return items


class _DatasetKind:
    """How items are found: by number, or one after the other."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> _BaseDatasetFetcher:
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)
