"""Helpers that programs take from `torch._utils`: several tensors as one and back, errors of other processes."""

import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import names_from
from mindtorch._tensor_methods import rebuilding
from mindtorch.dispatch import ops


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """The tensors in chunks of one type, each of `size_limit` bytes or as few more as its last tensor has."""
    chunks: dict[Any, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        kind = tensor.type()
        chunk, held = chunks.get(kind, ([], 0))
        if held + size > size_limit and held > 0:
            yield chunk
            chunk, held = [], 0
        chunk.append(tensor)
        chunks[kind] = chunk, held + size
    yield from [chunk for chunk, _ in chunks.values() if chunk]


def _get_available_device_type() -> None:
    """The type of the accelerator: None."""


def _get_device_module(device_type: str) -> Any:
    """The module of a type of devices: `torch.cpu` for "cpu"."""
    found = getattr(sys.modules["mindtorch"], device_type, None)
    if found is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'."
        )
    return found


def is_compiling() -> bool:
    """Whether a compiler traces the program: never."""
    return False


# What pickles of tensors call.
_rebuild_tensor = rebuilding.rebuild_tensor
_rebuild_tensor_v2 = rebuilding.rebuild_tensor_v2
_rebuild_tensor_v3 = rebuilding.rebuild_tensor_v3
_rebuild_sparse_tensor = rebuilding.rebuild_sparse_tensor
_rebuild_meta_tensor_no_storage = rebuilding.rebuild_meta_tensor_no_storage
_rebuild_wrapper_subclass = rebuilding.rebuild_wrapper_subclass
_PARAMETERS = ("rebuild_parameter", "rebuild_parameter_with_state")


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    return ops.cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple([part.view_as(tensor) for part, tensor in zip(parts, tensors)])


def _element_size(dtype: Dtype) -> int:
    """How many bytes an element has."""
    return dtype.itemsize


def cpu_count() -> int | None:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


class KeyErrorMessage(str):
    """A text that a KeyError shows as it is, not quoted."""

    __slots__ = ()

    def __repr__(self) -> str:
        return self


class ExceptionWrapper:
    """An exception and its traceback on their way from another thread or process."""

    exc_type: Any

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        found = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = found[0]
        self.exc_msg = "".join(traceback.format_exception(*found))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the same type here, with the traceback in its text."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:  # noqa: BLE001 (a type that wants other arguments cannot be made, whatever it says)
            raise RuntimeError(text) from None
        raise error


if not TYPE_CHECKING:  # what pickles of parameters call, whose module is above this one
    _find = names_from("mindtorch._utils", dict.fromkeys(_PARAMETERS, "mindtorch.nn.parameter"))

    def __getattr__(name: str) -> Any:
        if name == "torch":  # pickles of memory formats name `torch._utils.torch.channels_last`
            return sys.modules["mindtorch"]
        return _find(name.removeprefix("_") if name.startswith("_rebuild_parameter") else name)
