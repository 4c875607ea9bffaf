"""A function of each item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mindtorch.utils.data.datapipes._decorator import functional_datapipe
from mindtorch.utils.data.datapipes.datapipe import IterDataPipe
from mindtorch.utils.data.datapipes.iter.utils import length_of


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Any]):
    """What a function makes of the items; columns (`input_col`, `output_col`) are not supported."""

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        if input_col is not None or output_col is not None:
            raise NotImplementedError("mindtorch maps whole items: let the function choose the columns")
        self.datapipe = datapipe
        self.fn = fn

    def __iter__(self) -> Iterator[Any]:
        return map(self.fn, self.datapipe)

    def __len__(self) -> int:
        return length_of(self, self.datapipe)
