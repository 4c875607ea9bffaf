"""Subclasses of Tensor: `__torch_function__`, `as_subclass`."""

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

from mindtorch._core import state
from mindtorch._core.tensor import Tensor, alias_of, be_of_inference, extend_tensor, share_version
from mindtorch.dispatch.modes import torch_dispatch
from mindtorch.dispatch.torch_function import (
    begin,
    takes_over,
    without_torch_function,
    without_torch_function_and_modes,
)

Subclass = TypeVar("Subclass", bound=Tensor)


@extend_tensor
class SubclassMethods:
    """What lets users derive classes from Tensor."""

    @classmethod
    def __init_subclass__(cls, **options: Any) -> None:
        super(Tensor, cls).__init_subclass__(**options)  # type: ignore[misc]
        if takes_over(cls) and not getattr(cls, "counts_its_objects", False):
            begin()
            state.count_active_mode(1)
        if torch_dispatch.takes_over(cls):
            torch_dispatch.count_class()

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        """Run the function as for plain tensors and give its results this class."""
        if not all(issubclass(cls, each) for each in types):
            return NotImplemented
        if cls is Tensor and not state.thread.torch_function:
            return NotImplemented  # it is PyTorch that asks, for the second time: its functions take no such tensor
        with without_torch_function():
            result = func(*args, **(kwargs or {}))
        return result if cls is Tensor or _is_left_alone(func) else _converted(result, cls)

    def as_subclass(self: Any, cls: type[Subclass]) -> Subclass:
        """The same tensor as an object of a subclass; it stays in the graph."""
        if not (isinstance(cls, type) and issubclass(cls, Tensor)):
            raise TypeError(
                "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure "
                "your class inherits from Tensor."
            )
        with without_torch_function_and_modes():
            result = self.alias()
        result = result if type(result) is Tensor else alias_of(result)
        return _as_class(result, cls)

    @staticmethod
    def _make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Any:
        """A leaf of a subclass on the memory of `data`."""
        result = alias_of(data, cls)
        if data.is_inference():
            be_of_inference(result)
        else:
            result._mt_version = share_version(data)
        if require_grad:
            result.requires_grad = True
        return result


def _is_left_alone(func: Callable) -> bool:
    """Whether the result of a call keeps its class: those of `x.grad` and `x._base` are existing tensors."""
    return getattr(getattr(func, "__self__", None), "__name__", None) in ("_base", "grad")


def _as_class(tensor: Tensor, cls: type) -> Any:
    """The tensor itself, not yet shared, as an object of a subclass."""
    result = alias_of(tensor, cls)
    result._mt_edge = edge = tensor._mt_edge
    result._mt_meta = tensor._mt_meta
    if edge and edge[0].accumulates:
        edge[0].leaf = ref(result)
    result._mt_version = tensor._mt_version
    return result


def _converted(result: Any, cls: type) -> Any:
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else _as_class(result, cls)
    if isinstance(result, (tuple, list)):
        converted = [_converted(item, cls) for item in result]
        return getattr(type(result), "_make", type(result))(converted)  # a namedtuple has _make
    return result
