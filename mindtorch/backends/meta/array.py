"""`MetaArray`: the array of the meta backend. It has a shape, strides and a dtype, and no data."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from mindtorch._core.buffers import Root
from mindtorch._core.device import META
from mindtorch._core.device import device as Device
from mindtorch._core.geometry import check_numel, check_strided_room
from mindtorch._support import errors
from mindtorch.backends.device_array import DeviceArray, byte_strides, extent_in_bytes
from mindtorch.backends.trials import Trials
from mindtorch.dispatch.keys import register_backend


class MetaRoot(Root):
    """What the views of a meta array share: the size that the memory would have."""

    __slots__ = ()

    device = META
    address = 0

    def resize(self, nbytes: int) -> None:
        self.nbytes = nbytes

    def fill(self, byte: int) -> None:
        """There is nothing to fill."""

    def copy_from(self, source: Root) -> None:
        """There is nothing to copy."""

    def to_host(self, start: int = 0, nbytes: int | None = None) -> NoReturn:
        raise errors.meta_data()

    def array(
        self, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], byte_offset: int = 0
    ) -> "MetaArray":
        return MetaArray(shape, dtype, strides, self, byte_offset)


class MetaArray(DeviceArray):
    """An array without data."""

    __slots__ = ()

    device: Device = META
    address = 0
    in_device_memory = False

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype,
        strides: tuple[int, ...] | None = None,
        root: MetaRoot | None = None,
        byte_offset: int = 0,
    ) -> None:
        """`strides` in bytes (default: row-major); a view passes its input's `root` and where it begins in it."""
        if strides is None:
            strides = byte_strides(shape, dtype.itemsize)
        elif root is None:
            check_strided_room(shape, [stride // dtype.itemsize for stride in strides], dtype.itemsize)
        check_numel(shape)
        if root is None:
            root = MetaRoot(extent_in_bytes(shape, strides, dtype.itemsize))
        super().__init__(shape, dtype, strides, root, byte_offset)

    @classmethod
    def new_root(cls, nbytes: int, device: Device) -> MetaRoot:
        """Memory of so many bytes, on the device."""
        return MetaRoot(nbytes)

    def copy_from(self, source: Any) -> None:
        """There is nothing to copy."""

    def to_numpy(self) -> NoReturn:
        raise errors.meta_data()


_check_operands = Trials(with_numbers=False, shared=None, with_kernels=False).check


def _tried(kernel: Callable, op: str) -> Callable:
    """A kernel that refuses the dtypes that the CPU refuses."""
    if getattr(kernel, "serves_all_devices", False):
        return kernel

    def call(*args: Any, out: Any = None) -> Any:
        try:
            _check_operands(op, args, out)
        except Exception:
            with suppress(NotImplementedError):  # of a shape that depends on data
                kernel(*args)  # which has words of its own where PyTorch's meta functions have
            raise
        return kernel(*args) if out is None else kernel(*args, out=out)

    vars(call).update(vars(kernel))  # the marks of the rule
    return call


register_backend("Meta", MetaArray, "meta", around=_tried)
