"""`IterDataPipe` and `MapDataPipe`: datasets with methods that make others of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeVar

from mindtorch.utils.data.dataset import Dataset, IterableDataset

Item = TypeVar("Item", covariant=True)


class _Methods:
    """The methods that `functional_datapipe` has registered: `pipe.name(...)` is `Class(pipe, ...)`."""

    functions: ClassVar[dict[str, Callable[..., Any]]]

    def __getattr__(self, attribute_name: str) -> Any:
        if attribute_name in type(self).functions:
            return partial(type(self).functions[attribute_name], self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{attribute_name}'")

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Callable[..., Any], enable_df_api_tracing: bool = False
    ) -> None:
        """Have `pipe.function_name(...)` make an object of a class."""
        if function_name in cls.functions:
            raise Exception(  # (torch raises no narrower one)
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )
        cls.functions[function_name] = cls_to_register

    def reset(self) -> None:
        """To be called before a new pass; a class may override it."""

    def __str__(self) -> str:
        return type(self).__qualname__

    __repr__ = __str__


class IterDataPipe(_Methods, IterableDataset[Item]):
    """A dataset that is gone through from the beginning."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class DataChunk(list[Any]):
    """A batch: a list."""


class MapDataPipe(_Methods, Dataset[Item]):
    """A dataset whose items have keys."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class DFIterDataPipe(IterDataPipe[Item]):
    """One of tables, which an `IterDataPipe` does not make by itself."""
