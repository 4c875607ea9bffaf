"""Datasets: things with a length and items by number."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar, cast

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops

Item = TypeVar("Item", covariant=True)


class Dataset(Generic[Item]):
    """A collection whose items are asked for by number."""

    def __getitem__(self, index: Any) -> Item:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Item]) -> ConcatDataset[Item]:
        return ConcatDataset([self, other])


def length_of(dataset: Any) -> int:
    """Of a dataset that has one: `Dataset` does not promise it."""
    return len(dataset)


class IterableDataset(Dataset[Item], Iterable[Item]):
    """A collection that can only be gone through."""

    def __iter__(self) -> Iterator[Item]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Item]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """Collections that can only be gone through, one behind the other."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        total = 0
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            total += length_of(dataset)
        return total


class StackDataset(Dataset):
    """Datasets side by side: an item is a tuple or a dict with an item of each."""

    def __init__(self, *args: Dataset, **kwargs: Dataset) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        self.datasets: Any = args or kwargs
        if not self.datasets:
            raise ValueError("At least one dataset should be passed")
        lengths = [len(dataset) for dataset in self._each()]  # type: ignore[arg-type]
        if len(set(lengths)) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths[0]

    def _each(self) -> list[Dataset]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _like_input(self, values: list[Any]) -> Any:
        return dict(zip(self.datasets, values)) if isinstance(self.datasets, dict) else tuple(values)

    def __getitem__(self, index: int) -> Any:
        return self._like_input([dataset[index] for dataset in self._each()])

    def __getitems__(self, indices: list[int]) -> list[Any]:
        columns = []
        for dataset in self._each():
            fetch = getattr(dataset, "__getitems__", None)
            items = fetch(indices) if fetch else [dataset[index] for index in indices]
            if len(items) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
            columns.append(items)
        return [self._like_input(list(row)) for row in zip(*columns)]

    def __len__(self) -> int:
        return self._length


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors that share their first dimension; an item is a row of each."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class ConcatDataset(Dataset[Item]):
    """Datasets one behind the other."""

    def __init__(self, datasets: Iterable[Dataset[Item]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(accumulate(map(length_of, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Item:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][index - before]


class Subset(Dataset[Item]):
    """Some of the items of a dataset."""

    def __init__(self, dataset: Dataset[Item], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Item:
        if isinstance(index, list):
            return self.dataset[[self.indices[each] for each in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset[Item], lengths: Sequence[float], generator: Any = None) -> list[Subset[Item]]:
    """Share the items out at random, into parts of the given lengths or fractions."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_fractions(length_of(dataset), lengths)
    if sum(lengths) != length_of(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = ops.randperm(length_of(dataset), generator=generator).tolist()
    counts = cast(Sequence[int], lengths)
    return [Subset(dataset, indices[end - count : end]) for end, count in zip(accumulate(counts), counts)]


def _lengths_of_fractions(total: int, fractions: Sequence[float]) -> list[int]:
    """Rounded down; what remains goes to the first parts, one each."""
    for number, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {number} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for number in range(total - sum(lengths)):
        lengths[number % len(lengths)] += 1
    for number, length in enumerate(lengths):
        if length == 0:
            warn(f"Length of split at index {number} is 0. This might result in an empty dataset.")
    return lengths
