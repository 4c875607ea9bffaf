"""Tensor methods about the memory behind a tensor: `set_`, `resize_`, sharing, pinning."""

from typing import Any

from mindtorch import errors, state
from mindtorch.autograd.history import check_inplace, edge_of, mark_written, renew_leaf
from mindtorch.dispatch.arguments import ints_of, is_int
from mindtorch.geometry import channels_last_strides, contiguous_strides
from mindtorch.memory_format import channels_last, channels_last_3d, contiguous_format, memory_format
from mindtorch.storage import UntypedStorage, array_on
from mindtorch.tensor import Tensor, extend_tensor, set_array

_thread = state.thread


@extend_tensor
class MemoryMethods:
    """Changing what memory a tensor looks at, and asking about it."""

    def set_(self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
        """Look at the memory of another tensor or storage from now on."""
        if _thread.grad_enabled and edge_of(self) is not None:
            check_inplace(self)
        if isinstance(source, Tensor) and size is None:
            set_array(self, source._array)
        else:
            storage = UntypedStorage(0) if source is None else source
            storage = storage.untyped_storage() if isinstance(storage, Tensor) else storage
            size = (len(storage) // self.itemsize - storage_offset,) if size is None else tuple(size)
            set_array(self, array_on(storage, self.dtype, storage_offset, size, stride or contiguous_strides(size)))
        return _rewritten(self)

    def resize_(self: Any, *sizes: Any, memory_format: memory_format = contiguous_format) -> Tensor:
        """Change the shape; elements that come new are not initialised."""
        shape = ints_of(sizes if sizes and is_int(sizes[0]) else sizes[0], "resize_", "size", 1)
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        if shape != tuple(self.shape):
            set_array(self, _resized(self, shape, memory_format))
        return _rewritten(self)

    def resize_as_(self: Any, the_template: Tensor) -> Tensor:
        """Change the shape to that of another tensor."""
        return self.resize_(the_template.shape)

    def is_set_to(self: Any, tensor: Tensor) -> bool:
        """Whether the two look at the same memory in the same way."""
        mine, other = self._array, tensor._array
        return self.data_ptr() == tensor.data_ptr() and (mine.shape, mine.strides) == (other.shape, other.strides)

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


def _rewritten(tensor: Tensor) -> Tensor:
    """After the array was replaced: a new version, and gradients are checked against the new shape."""
    mark_written(tensor)
    renew_leaf(tensor)
    return tensor


def _resized(tensor: Any, shape: tuple[int, ...], format: memory_format) -> Any:
    """An array of the new shape on the same storage, or on a larger one that begins with the same bytes."""
    is_last = format in (channels_last, channels_last_3d)
    strides = channels_last_strides(shape) if is_last else contiguous_strides(shape)
    offset = tensor.storage_offset()
    storage = tensor.untyped_storage()
    needed = (
        0 if 0 in shape else (offset + 1 + sum((n - 1) * step for n, step in zip(shape, strides))) * tensor.itemsize
    )
    if needed > len(storage):
        larger = UntypedStorage(needed)
        larger.bytes_view()[: len(storage)] = storage.bytes_view()
        storage = larger
    return array_on(storage, tensor.dtype, offset, shape, strides)
