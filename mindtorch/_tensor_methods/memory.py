"""Tensor methods about the memory behind a tensor: `set_`, `resize_`, sharing, pinning."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from mindtorch._core import geometry, state
from mindtorch._core.buffers import is_pinned, pinned_like, root_of
from mindtorch._core.device import accelerator, as_device
from mindtorch._core.geometry import contiguous_strides, strides_of, suggested_format
from mindtorch._core.memory_format import checked_format, contiguous_format, memory_format, preserve_format
from mindtorch._core.storage import UntypedStorage, array_on
from mindtorch._core.strided import formatted_strides
from mindtorch._core.tensor import Tensor, extend_tensor, wrap
from mindtorch._core.typed_storage import TypedStorage
from mindtorch._support import errors
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.history import check_inplace, edges_of, mark_written, rebase, set_array
from mindtorch.autograd._engine.node_base import RefusingNode, next_sequence_nr
from mindtorch.autograd._engine.tenants import (
    LARGEST_INT,
    array_on_enough,
    bytes_needed,
    is_only_tenant,
    resized_array,
)
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.dispatch.arguments.conversions import checked_tensor, ints_of
from mindtorch.dispatch.arguments.errors import element_overflow, missing_argument
from mindtorch.dispatch.arguments.types import is_int
from mindtorch.dispatch.keys import key_of
from mindtorch.dispatch.modes.forward_ad import has_tangents, no_forward_rule
from mindtorch.dispatch.shown_signature import as_called

_thread = state.thread

# How tensors are sent to processes; loads when there is the first one that can be.
_processes: Any = lazy("mindtorch.multiprocessing")


@extend_tensor
class MemoryMethods:
    """Changing what memory a tensor looks at, and asking about it."""

    @property
    def _cdata(self) -> int:
        """A number that no other living tensor has: programs compare it to see whether two names mean one tensor."""
        return id(self)

    def set_(self: Any, source: Any = None, storage_offset: Any = None, size: Any = None, stride: Any = None) -> Tensor:
        """Look at the memory of another tensor or storage from now on."""
        if not _is_set_form(source, storage_offset, size, stride):
            given = [each for each in (source, storage_offset, size, stride) if each is not None]
            raise _no_set_form(given)
        node = _refusing_node(
            "set_", self, source if size is None else None
        )  # with a size it is the storage that counts
        if has_tangents((self, source)):
            raise no_forward_rule("set_")
        _check_source(self, source)
        if isinstance(source, Tensor) and size is None:
            set_array(self, source._mt_array, keep_node=False)
        else:
            array = _array_over(_storage_in(source, self.device), self.dtype, storage_offset or 0, size, stride)
            set_array(self, array, keep_node=False)
        mark_written(self)
        if node is not None:
            rebase(self, node)
        return self

    def resize_(self: Any, *sizes: Any, size: Any = None, memory_format: memory_format | None = None) -> Tensor:
        """Change the shape; elements that come new are not initialised."""
        if not sizes and size is None:
            raise missing_argument("resize_", "size")
        given = size if not sizes else sizes if is_int(sizes[0]) else sizes[0]
        shape = ints_of(given, "resize_", "size", 1)
        if memory_format is not None:
            checked_format(memory_format, "resize_")
        if self.requires_grad and not _thread.inference:
            raise RuntimeError("cannot resize variables that require grad")
        if has_tangents((self,)):
            raise RuntimeError("cannot resize variables that has a forward grad")
        _check_sizes("resize_", shape)
        if shape != tuple(self.shape) or memory_format is not None:
            set_array(self, _resized(self, shape, memory_format or contiguous_format))
            mark_written(self)
        return self

    @as_called
    def resize_as_(self: Any, the_template: Any = ..., *, memory_format: memory_format | None = None) -> Tensor:
        """Change the shape to that of another tensor."""
        _check_tensor(the_template, "resize_as_", "the_template")
        if memory_format is preserve_format:
            memory_format = suggested_format(the_template._mt_array)
        return self.resize_(the_template.shape, memory_format=memory_format)

    def resize(self: Any, *sizes: Any) -> Tensor:
        """The same elements in another shape; the old form of `view`, which does not have to be dense."""
        warn("non-inplace resize is deprecated", UserWarning)
        return _with_as_many_elements(self, sizes)

    def resize_as(self: Any, tensor: Tensor) -> Tensor:
        """The same elements in the shape of another tensor."""
        warn("non-inplace resize_as is deprecated", UserWarning)
        return _with_as_many_elements(self, tensor.shape)

    @as_called
    def is_set_to(self: Any, tensor: Any = ...) -> bool:
        """Whether the two look at the same memory in the same way."""
        _check_tensor(tensor, "is_set_to", "tensor")
        return is_alias_of(self, tensor) and _place_of(self) == _place_of(tensor)

    @as_called
    def is_same_size(self: Any, other: Any = ...) -> bool:
        """Whether the two have one shape."""
        _check_tensor(other, "is_same_size", "other")
        return self.shape == other.shape

    def is_distributed(self) -> bool:
        return False

    def dim_order(self: Any, *, ambiguity_check: bool | list[memory_format] = False) -> tuple[int, ...]:
        """The dimensions as they lie in memory, outermost first.

        `ambiguity_check` refuses a tensor with several such orders, unless it has exactly one of the formats given.
        """
        if self.is_sparse:
            raise AttributeError(
                f"Can't get dim order on sparse type: {self.type()} Use Tensor.to_dense() to convert to a dense tensor "
                "first."
            )
        formats = _formats_to_tell(ambiguity_check)
        array = self._mt_array
        if ambiguity_check is not False and _has_several_orders(self):
            if sum(geometry.has_format(array, each) for each in formats) != 1:
                raise RuntimeError(
                    "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
                )
        order, is_certain = geometry.dim_order(array)
        if ambiguity_check and not is_certain:
            raise RuntimeError("The tensor does not have unique dim order.")
        return order

    def share_memory_(self: Any) -> Tensor:
        """Move to memory that other processes can see, together with all tensors on the same storage."""
        _processes.prepare()
        storage = self.untyped_storage()
        if storage.is_shared() or not is_only_tenant(self):
            storage.share_memory_()
        else:
            place = (self.dtype, self.storage_offset(), tuple(self.shape), self.stride())
            set_array(self, array_on(storage.share_memory_(has_tenants=False), *place))
        return self

    def is_shared(self: Any) -> bool:
        return self.untyped_storage().is_shared()

    def pin_memory(self: Any, device: Any = None) -> Tensor:
        """A copy in memory that the accelerator reaches by itself; the tensor itself if it is there already."""
        _warn_of_device("pin_memory", device)
        return pinned(self)

    def is_pinned(self: Any, device: Any = None) -> bool:
        """Whether the tensor is in memory that the accelerator reads and writes by itself."""
        _warn_of_device("is_pinned", device)
        return is_pinned(self._mt_array)

    def record_stream(self: Any, stream: Any) -> None:
        """Have the memory not be used again before a stream, other than the tensor's own, is done with it."""
        record = getattr(root_of(self._mt_array), "record_stream", None)
        if record is None:
            raise errors.no_kernel("record_stream", key_of(self._mt_array, autograd=False), [])
        record(stream)


def pinned(tensor: Any) -> Tensor:
    """A copy of a tensor in pinned memory; the tensor itself if it is there already."""
    if accelerator() is None:
        raise errors.no_accelerator()
    array = tensor._mt_array
    if not isinstance(array, np.ndarray):
        raise RuntimeError(f"cannot pin '{tensor.type()}' only dense CPU tensors can be pinned")
    return tensor if is_pinned(array) else wrap(pinned_like(array)).copy_(tensor)


def is_alias_of(tensor: Any, other: Any) -> bool:
    """Whether two tensors are on one storage."""
    return root_of(tensor._mt_array) is root_of(other._mt_array)


def resize_as_(input: Any, the_template: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """Change the shape of a tensor to that of another one."""
    checked_tensor(input, "resize_as_")
    _check_tensor(the_template, "resize_as_", "the_template", 2)
    return input.resize_as_(the_template, memory_format=memory_format)


def _check_tensor(value: Any, function: str, name: str, position: int = 1) -> None:
    if value is ...:
        raise missing_argument(function, name)
    if not isinstance(value, Tensor):
        raise errors.argument_type(function, name, position, "Tensor", value)


def _place_of(tensor: Any) -> tuple[Any, ...]:
    return tensor.storage_offset(), tuple(tensor.shape), strides_of(tensor._mt_array)


def _formats_to_tell(ambiguity_check: Any) -> list[memory_format]:
    """The formats among `ambiguity_check`; torch's error if it is neither a truth value nor formats."""
    if isinstance(ambiguity_check, bool):
        return []
    if not isinstance(ambiguity_check, list) or not all(isinstance(each, memory_format) for each in ambiguity_check):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    return ambiguity_check


def _has_several_orders(tensor: Any) -> bool:
    strides = tensor.stride()
    return 1 in tensor.shape or any(outer == inner for outer, inner in pairwise(strides))


def _warn_of_device(method: str, device: Any) -> None:
    if device is not None:
        as_device(device)
        warn(
            f"The argument 'device' of Tensor.{method}() is deprecated. Please do not pass this argument.",
            DeprecationWarning,
        )


# -------------------- set_ --------------------


def _refusing_node(op: str, written: Tensor, source: Any) -> RefusingNode | None:
    """The node of a write that is to be recorded, if there are gradients that it would have to know of."""
    if not _thread.grad_enabled:
        return None
    edges = edges_of((written, source if isinstance(source, Tensor) else None))
    if not edges:
        return None
    check_inplace(written)
    node = RefusingNode()
    node.sequence_nr = next_sequence_nr()
    node.next_edges = edges
    node.op = op
    return node


def _is_set_form(source: Any, storage_offset: Any, size: Any, stride: Any) -> bool:
    """Whether the arguments are nothing, a source, or a source with offset, size and perhaps stride."""
    if source is None:
        return storage_offset is size is stride is None
    if not isinstance(source, (Tensor, UntypedStorage, TypedStorage)):
        return False
    if size is None:
        return storage_offset is stride is None
    return is_int(storage_offset) and isinstance(size, (tuple, list)) and isinstance(stride, (tuple, list, type(None)))


def _no_set_form(given: Sequence[Any]) -> TypeError:
    got = ", ".join([errors.type_name(value) for value in given])
    return TypeError(
        f"set_() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * ()\n"
        " * (torch.Storage source)\n"
        " * (torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None)\n"
        " * (Tensor source)\n"
        " * (Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)\n"
    )


def _check_source(tensor: Any, source: Any) -> None:
    """The source has the tensor's dtype, if it has any, and is on its device."""
    if isinstance(source, TypedStorage) and source.dtype is not tensor.dtype:
        raise RuntimeError(
            f"Expected a Storage of type {c_name(tensor._mt_array)} or an UntypedStorage, but got type "
            f"{source.dtype.storage_name} for argument 1 'storage'"
        )
    if isinstance(source, Tensor) and tensor.dtype is not source.dtype:
        found, expected = c_name(source._mt_array), c_name(tensor._mt_array)
        raise RuntimeError(f"Could not set tensor of type {found} to a tensor of type {expected}")
    if source is not None and source.device != tensor.device:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{tensor.device}" to a storage on different device '
            f'"{source.device}".  This is no longer allowed; the devices must match.'
        )


def _storage_in(source: Any, device: Any) -> UntypedStorage:
    if source is None:
        return UntypedStorage(0, device=device)
    if isinstance(source, Tensor):
        return source.untyped_storage()
    return source.untyped() if isinstance(source, TypedStorage) else source


def _array_over(storage: UntypedStorage, dtype: Any, offset: int, size: Any, stride: Any) -> Any:
    """An array on a storage, all of it if no size is given."""
    if size is None:
        size = (len(storage) // dtype.itemsize,)
    strides = _checked_strides(offset, size, stride)
    return array_on_enough(storage, dtype, offset, tuple(size), strides)


def array_within(storage: UntypedStorage, dtype: Any, offset: int, size: Sequence[int], stride: Sequence[int]) -> Any:
    """An array on a storage that may not grow for it."""
    strides = _checked_strides(offset, size, stride)
    if bytes_needed(dtype, offset, tuple(size), strides) > len(storage):
        raise RuntimeError("Trying to resize storage that is not resizable")
    if max((prod(size), *strides)) * dtype.itemsize > LARGEST_INT:  # as expanded tensors and gaps of size 1 may have
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(strides)}")
    if offset * dtype.itemsize > len(storage):
        offset = 0  # without elements it may lie anywhere, but not for NumPy
    return array_on(storage, dtype, offset, tuple(size), strides)


def _checked_strides(offset: int, size: Sequence[int], stride: Sequence[int] | None) -> tuple[int, ...]:
    _check_sizes("set_", size)
    strides = contiguous_strides(size) if stride is None else tuple(stride)
    if len(size) != len(strides):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(strides)})")
    if any(step < 0 for step in strides):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(strides)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    return strides


# -------------------- resize_ --------------------


def _check_sizes(function: str, size: Sequence[int]) -> None:
    for place, extent in enumerate(size):
        if abs(extent) > geometry.MOST:
            raise element_overflow(function, "size", place)
    if len(size) > geometry.MOST_DIMS:
        raise errors.too_many_dims()
    geometry.check_numel(size)


def _with_as_many_elements(tensor: Any, sizes: Sequence[int]) -> Tensor:
    if not all(is_int(size) for size in sizes) or prod(sizes) != tensor.numel():
        asked, found = "x".join(map(str, sizes)), "x".join(map(str, tensor.shape))
        count = prod(sizes) if all(is_int(size) for size in sizes) else sizes[0]
        raise RuntimeError(
            f"requested resize to {asked} ({count} elements in total), but the given tensor has a size of {found} "
            f"({tensor.numel()} elements). autograd's resize can only change the shape of a given tensor, while "
            "preserving the number of elements. "
        )
    return tensor.contiguous().view(sizes)


def _resized(tensor: Any, shape: tuple[int, ...], format: memory_format) -> Any:
    """An array of the new shape on the same storage, or on a larger one that begins with the same bytes."""
    if format is preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    strides = contiguous_strides(shape) if format is contiguous_format else formatted_strides(shape, 1, format)
    return resized_array(tensor, shape, strides)
