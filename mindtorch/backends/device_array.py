"""`DeviceArray`: what the arrays of all devices but the CPU have in common.

Like a NumPy array, strides in bytes and all, but what it lies in is a `Root` (`mindtorch._core.buffers`), which NumPy
cannot read; any use by NumPy is an error. The classes of backends inherit it. Views are made by `part`, from geometry
alone.
"""

from math import prod
from typing import Any, NoReturn

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.device import device as Device


class DeviceFlags:
    """The two of NumPy's array flags that shape rules ask for."""

    __slots__ = ("c_contiguous", "f_contiguous")

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
        self.c_contiguous = _is_dense(shape[::-1], strides[::-1], itemsize)
        self.f_contiguous = _is_dense(shape, strides, itemsize)


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...], step: int) -> bool:
    """Whether the dimensions follow each other in memory, the first one closest together."""
    if 0 in shape:
        return True
    for size, stride in zip(shape, strides):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


class DeviceArray:
    """An array in the memory of a device, given by its root, and where and how it lies there."""

    __slots__ = ("shape", "strides", "dtype", "root", "byte_offset", "_flags", "__weakref__")

    base = None
    in_device_memory = True  # where the kernels of the CPU cannot read

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], root: Any, byte_offset: int = 0
    ) -> None:
        """`strides` and `byte_offset` count bytes."""
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.root = root
        self.byte_offset = byte_offset
        self._flags: DeviceFlags | None = None

    def part(self, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], byte_offset: int) -> Any:
        """An array of the same class on the same root."""
        return self.root.array(shape, dtype, strides, byte_offset)

    @property
    def device(self) -> Device:
        return self.root.device

    @property
    def address(self) -> int:
        return self.root.address + self.byte_offset if self.size else 0

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> DeviceFlags:
        if self._flags is None:
            self._flags = DeviceFlags(self.shape, self.strides, self.dtype.itemsize)
        return self._flags

    def to_numpy(self) -> np.ndarray:
        """The elements in memory of the CPU, with the same strides."""
        nbytes = extent_in_bytes(self.shape, self.strides, self.dtype.itemsize)
        return np.ndarray(self.shape, self.dtype, self.root.to_host(self.byte_offset, nbytes), 0, self.strides)

    def item(self) -> Any:
        """The only element, as a Python number."""
        return self.to_numpy().item()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    # Kernels of the CPU ask for NumPy's methods, and NumPy for these, when an array of a device meets one of the CPU.

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(np.ndarray, name) and not name.startswith("_"):
            raise self._not_for_numpy()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._not_for_numpy()

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._not_for_numpy()

    def __array_function__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._not_for_numpy()

    def _not_for_numpy(self) -> RuntimeError:
        return RuntimeError(f"Tensor on device {self.device} is not on the expected device cpu!")


def byte_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Those of a row-major array, in bytes; an error if it were larger than an array can be."""
    geometry.check_room(shape, itemsize)
    return tuple([stride * itemsize for stride in geometry.contiguous_strides(shape)])


def extent_in_bytes(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """The bytes from the first element to behind the last one."""
    if 0 in shape:
        return 0
    return sum((size - 1) * stride for size, stride in zip(shape, strides)) + itemsize
