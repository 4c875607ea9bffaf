"""Items in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindtorch.utils.data.datapipes._decorator import functional_datapipe
from mindtorch.utils.data.datapipes.datapipe import DataChunk, IterDataPipe
from mindtorch.utils.data.datapipes.iter.utils import length_of


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe[Any]):
    """Lists of `batch_size` items; the last one is shorter, or left out with `drop_last`."""

    def __init__(
        self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: type[Any] = DataChunk
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for item in self.datapipe:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        length = length_of(self, self.datapipe)
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
