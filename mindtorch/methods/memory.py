"""Tensor methods about the memory behind a tensor: `set_`, `resize_`, sharing, pinning."""

from collections.abc import Sequence
from typing import Any

from mindtorch import errors, state
from mindtorch.autograd.history import check_inplace, edge_of, mark_written, set_array
from mindtorch.backends.cpu.checks import c_name
from mindtorch.backends.cpu.factory import formatted_strides
from mindtorch.dispatch.argument_errors import missing_argument
from mindtorch.dispatch.arguments import ints_of, is_int
from mindtorch.geometry import contiguous_strides, extent_of, strides_of, suggested_format
from mindtorch.memory_format import checked_format, contiguous_format, memory_format, preserve_format
from mindtorch.storage import TypedStorage, UntypedStorage, array_on, root_of
from mindtorch.tensor import Tensor, extend_tensor

_thread = state.thread


@extend_tensor
class MemoryMethods:
    """Changing what memory a tensor looks at, and asking about it."""

    def set_(self: Any, source: Any = None, storage_offset: Any = None, size: Any = None, stride: Any = None) -> Tensor:
        """Look at the memory of another tensor or storage from now on."""
        if not _is_set_form(source, storage_offset, size, stride):
            given = [each for each in (source, storage_offset, size, stride) if each is not None]
            raise _no_set_form(given)
        if _thread.grad_enabled and edge_of(self) is not None:
            check_inplace(self)
        if isinstance(source, Tensor):
            _check_same_dtype(self, source)
        if isinstance(source, Tensor) and size is None:
            set_array(self, source._array)
        else:
            set_array(self, _array_over(_storage_in(source), self.dtype, storage_offset or 0, size, stride))
        mark_written(self)
        return self

    def resize_(self: Any, *sizes: Any, memory_format: memory_format | None = None) -> Tensor:
        """Change the shape; elements that come new are not initialised."""
        if not sizes:
            raise missing_argument("resize_", "size")
        shape = ints_of(sizes if is_int(sizes[0]) else sizes[0], "resize_", "size", 1)
        if memory_format is not None:
            checked_format(memory_format, "resize_")
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        _check_sizes(shape)
        if shape != tuple(self.shape) or memory_format is not None:
            set_array(self, _resized(self, shape, memory_format or contiguous_format))
            mark_written(self)
        return self

    def resize_as_(self: Any, the_template: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
        """Change the shape to that of another tensor."""
        if not isinstance(the_template, Tensor):
            raise errors.argument_type("resize_as_", "the_template", 1, "Tensor", the_template)
        if memory_format is preserve_format:
            memory_format = suggested_format(the_template._array)
        return self.resize_(the_template.shape, memory_format=memory_format)

    def is_set_to(self: Any, tensor: Tensor) -> bool:
        """Whether the two look at the same memory in the same way."""
        if not isinstance(tensor, Tensor):
            raise errors.argument_type("is_set_to", "tensor", 1, "Tensor", tensor)
        mine, other = self._array, tensor._array
        return root_of(mine) is root_of(other) and _place_of(self) == _place_of(tensor)

    def is_same_size(self: Any, other: Tensor) -> bool:
        return self.shape == other.shape

    def share_memory_(self: Any) -> Any:
        """Nothing to do: tensors are not shared between processes."""
        return self

    def is_shared(self) -> bool:
        return False

    def pin_memory(self, device: Any = None) -> Tensor:
        raise errors.no_accelerator()

    def is_pinned(self, device: Any = None) -> bool:
        return False


def _place_of(tensor: Any) -> tuple[Any, ...]:
    return tensor.storage_offset(), tuple(tensor.shape), strides_of(tensor._array)


# -------------------- set_ --------------------


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


def _check_same_dtype(tensor: Any, source: Any) -> None:
    if tensor.dtype is not source.dtype:
        found, expected = c_name(source._array), c_name(tensor._array)
        raise RuntimeError(f"Could not set tensor of type {found} to a tensor of type {expected}")


def _storage_in(source: Any) -> UntypedStorage:
    if source is None:
        return UntypedStorage(0)
    if isinstance(source, Tensor):
        return source.untyped_storage()
    return source.untyped() if isinstance(source, TypedStorage) else source


def _array_over(storage: UntypedStorage, dtype: Any, offset: int, size: Any, stride: Any) -> Any:
    if size is None:
        size = (len(storage) // dtype.itemsize,)
    _check_sizes(size)
    strides = contiguous_strides(size) if stride is None else tuple(stride)
    if len(size) != len(strides):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(strides)})")
    if any(step < 0 for step in strides):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(strides)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    return _array_on_enough(storage, dtype, offset, tuple(size), strides)


# -------------------- resize_ --------------------


def _check_sizes(size: Sequence[int]) -> None:
    if any(extent < 0 for extent in size):
        raise RuntimeError("numel: integer multiplication overflow")


def _resized(tensor: Any, shape: tuple[int, ...], format: memory_format) -> Any:
    """An array of the new shape on the same storage, or on a larger one that begins with the same bytes."""
    if format is preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    strides = contiguous_strides(shape) if format is contiguous_format else formatted_strides(shape, 1, format)
    return _array_on_enough(tensor.untyped_storage(), tensor.dtype, tensor.storage_offset(), shape, strides)


def _array_on_enough(
    storage: UntypedStorage, dtype: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Any:
    """An array on the storage; if that is too small, on a larger one that begins with the same bytes."""
    needed = 0 if 0 in shape else (offset + extent_of(shape, strides)) * dtype.itemsize
    if needed > len(storage):
        larger = UntypedStorage(needed)
        larger.bytes_view()[: len(storage)] = storage.bytes_view()
        storage = larger
    return array_on(storage, dtype, offset, shape, strides)
