"""`functional_datapipe`: a class of datasets becomes a method of the others."""

from __future__ import annotations

from typing import Any

from mindtorch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe


class functional_datapipe:
    """Have `pipe.name(...)` make an object of the decorated class."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        if not isinstance(cls, type):
            raise TypeError("`functional_datapipe` can only decorate classes")
        base = IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe
        if not issubclass(cls, base):
            raise TypeError("Can only decorate IterDataPipe or MapDataPipe")
        base.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        return cls
