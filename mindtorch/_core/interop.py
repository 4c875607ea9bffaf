"""Tensors from and to NumPy, buffers and DLPack, sharing memory wherever both sides can."""

from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.buffers import with_own_storage
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import with_own_dtype
from mindtorch._core.shared_memory import root_of_file
from mindtorch._core.tensor import Tensor, fresh
from mindtorch._support import errors
from mindtorch._support.warnings import warn_once

DLPACK_CPU = 1  # kDLCPU in the DLPack standard


# -------------------- from NumPy and buffers --------------------


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the array's memory."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {errors.type_name(ndarray)})")
    return fresh(shareable(ndarray))


def shareable(array: np.ndarray) -> np.ndarray:
    """The array as a tensor can look at it, as a storage of its own; torch's error if none can."""
    if not array.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
            "the rest of this program."
        )
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate "
            "the memory."
        )
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    return with_own_storage(with_own_dtype(array))


def frombuffer(buffer: Any, *, dtype: Dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor that shares the memory of a Python buffer, from `offset` (in bytes), of `count` elements or all."""
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if view.readonly:
        warn_once(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
            "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
            "buffer to protect its data or make it writable before converting it to a tensor. This type of warning "
            "will be suppressed for the rest of this program."
        )
    count = _buffer_count(view.nbytes, dtype.itemsize, count, offset)
    tensor = fresh(np.frombuffer(view, dtype.numpy, count, offset))
    return require_grad(tensor) if requires_grad else tensor


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-d tensor on the first `size` elements of a file; if shared, what is written to it goes to the file."""
    _check_file(filename, shared, size, dtype, requires_grad)
    element_type = dtype or state.default_dtype
    root = root_of_file(filename, bool(shared), (size or 0) * element_type.itemsize)
    tensor = fresh(np.ndarray(size or 0, element_type.numpy, root))
    return require_grad(tensor) if requires_grad else tensor


def _check_file(filename: Any, shared: Any, size: Any, dtype: Any, requires_grad: Any) -> None:
    is_size = isinstance(size, int) and not isinstance(size, bool)
    tests = (
        (isinstance(filename, str), "filename", 1, "str", filename),
        (shared is None or isinstance(shared, bool), "shared", 2, "bool", shared),
        (size is None or is_size, "size", 3, "int", size),
        (dtype is None or isinstance(dtype, Dtype), "dtype", None, "torch.dtype", dtype),
        (requires_grad is None or isinstance(requires_grad, bool), "requires_grad", None, "bool", requires_grad),
    )
    for is_right, name, position, expected, value in tests:
        if not is_right:
            raise errors.argument_type("from_file", name, position, expected, value)


def _buffer_count(length: int, itemsize: int, count: int, offset: int) -> int:
    """How many elements to take from a buffer of `length` bytes."""
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    available = length - offset
    if count < 0:
        if available % itemsize:
            raise ValueError(
                f"buffer length ({available} bytes) after offset ({offset} bytes) must be a multiple of element size "
                f"({itemsize})"
            )
        return available // itemsize
    if count * itemsize > available:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) must not be greater "
            f"than actual buffer length ({length} bytes)"
        )
    return count


def require_grad(tensor: Tensor) -> Tensor:
    """Make a new tensor a leaf that requires grad."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    tensor.requires_grad = True
    return tensor


# -------------------- DLPack --------------------


class _Capsule:
    """A bare DLPack capsule as an object that NumPy can import."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return DLPACK_CPU, 0


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor that shares the memory of anything that exports DLPack, or of a capsule."""
    if not hasattr(ext_tensor, "__dlpack__"):
        if type(ext_tensor).__name__ != "PyCapsule":
            raise RuntimeError(
                "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
                "you might have already constructed a tensor from it once."
            )
        ext_tensor = _Capsule(ext_tensor)
    elif isinstance(ext_tensor, Tensor):
        ext_tensor.__dlpack_device__()  # refuses what is not in the memory of the CPU
    return fresh(shareable(np.from_dlpack(ext_tensor)))


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor, for consumers that don't know `__dlpack__`."""
    return tensor.__dlpack__()
