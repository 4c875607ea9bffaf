"""Some of the items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mindtorch.utils.data.datapipes._decorator import functional_datapipe
from mindtorch.utils.data.datapipes.datapipe import IterDataPipe


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Any]):
    """The items for which a function is true; columns (`input_col`) are not supported."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., bool], input_col: Any = None) -> None:
        if input_col is not None:
            raise NotImplementedError("mindtorch filters by whole items: let the function choose the columns")
        self.datapipe = datapipe
        self.filter_fn = filter_fn

    def __iter__(self) -> Iterator[Any]:
        return filter(self.filter_fn, self.datapipe)
