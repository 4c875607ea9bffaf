"""Several datasets as one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from mindtorch.utils.data.datapipes._decorator import functional_datapipe
from mindtorch.utils.data.datapipes.datapipe import IterDataPipe
from mindtorch.utils.data.datapipes.iter.utils import length_of


class _Combined(IterDataPipe[Any]):
    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes


@functional_datapipe("concat")
class ConcaterIterDataPipe(_Combined):
    """One after the other."""

    def __iter__(self) -> Iterator[Any]:
        return chain(*self.datapipes)

    def __len__(self) -> int:
        return sum([length_of(self, each) for each in self.datapipes])


@functional_datapipe("zip")
class ZipperIterDataPipe(_Combined):
    """Tuples of an item of each, up to the end of the shortest."""

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.datapipes)

    def __len__(self) -> int:
        return min([length_of(self, each) for each in self.datapipes])
