"""The beginning: what is gone through is made a dataset."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from mindtorch.utils.data.datapipes.datapipe import IterDataPipe


def length_of(pipe: Any, source: Any) -> int:
    """The length of what a dataset goes through; TypeError if that has none."""
    if hasattr(type(source), "__len__"):
        return len(source)
    raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")


class IterableWrapperIterDataPipe(IterDataPipe[Any]):
    """The items of an iterable. Each pass is over a copy of it, if it can be copied and `deepcopy` is True."""

    def __init__(self, iterable: Iterable[Any], deepcopy: bool = True) -> None:
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self) -> Iterator[Any]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:  # such as a generator
                pass
        return iter(source)

    def __len__(self) -> int:
        return length_of(self, self.iterable)
