"""`MetaArray`: the array of the meta backend. It has a shape, strides and a dtype, and no data."""

from math import prod
from typing import Any, NoReturn

import numpy as np

from mindtorch import errors
from mindtorch.device import META, device
from mindtorch.dispatch.keys import register_backend
from mindtorch.geometry import check_numel, check_room, check_strided_room, contiguous_strides
from mindtorch.roots import MetaRoot


class MetaFlags:
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


class MetaArray:
    """Like a NumPy array, strides in bytes and all, but without data; any use by NumPy is an error."""

    __slots__ = ("shape", "strides", "dtype", "root", "byte_offset", "_flags")

    device: device = META
    address = 0
    base = None

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype,
        strides: tuple[int, ...] | None = None,
        root: MetaRoot | None = None,
        byte_offset: int = 0,
    ) -> None:
        """`strides` in bytes (default: row-major); a view passes its input's `root` and where it begins in it."""
        self.shape = shape
        self.dtype = dtype
        if strides is None:
            check_room(shape, dtype.itemsize)
            strides = tuple([stride * dtype.itemsize for stride in contiguous_strides(shape)])
        elif root is None:
            check_strided_room(shape, [stride // dtype.itemsize for stride in strides], dtype.itemsize)
        check_numel(shape)
        self.strides = strides
        self.root = root if root is not None else MetaRoot(_extent(shape, strides, dtype.itemsize))
        self.byte_offset = byte_offset
        self._flags: MetaFlags | None = None

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
    def flags(self) -> MetaFlags:
        if self._flags is None:
            self._flags = MetaFlags(self.shape, self.strides, self.dtype.itemsize)
        return self._flags

    def to_numpy(self) -> NoReturn:
        """Other backends' arrays give their elements; this one has none."""
        raise errors.meta_data()

    def __repr__(self) -> str:
        return f"MetaArray(shape={self.shape}, dtype={self.dtype})"

    # Kernels of the CPU ask for NumPy's methods, and NumPy for these, when an array without data meets one with data.

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(np.ndarray, name) and not name.startswith("_"):
            raise _no_data()
        raise AttributeError(f"'MetaArray' object has no attribute '{name}'")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _no_data()

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _no_data()

    def __array_function__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _no_data()


def _extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """The bytes from the first element to behind the last one."""
    if 0 in shape:
        return 0
    return sum((size - 1) * stride for size, stride in zip(shape, strides)) + itemsize


def _no_data() -> RuntimeError:
    return RuntimeError("Tensor on device meta is not on the expected device cpu!")


register_backend("Meta", MetaArray, "meta")
