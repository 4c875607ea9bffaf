"""Tensors of classes with `__torch_dispatch__`: they say what they are like, and hold their values elsewhere."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core import state
from mindtorch._core.device import as_device
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor, alias_of, extend_tensor, wrap
from mindtorch._support import errors
from mindtorch.backends.meta.array import MetaArray
from mindtorch.dispatch.modes import torch_dispatch


class WrapperArray(MetaArray):
    """The array of a wrapper: shape, strides, dtype and device. No backend has kernels for it."""

    __slots__ = ("device",)

    device: Device


@extend_tensor
class WrapperMethods:
    """What makes wrappers."""

    __torch_dispatch__: Any = torch_dispatch.disabled_torch_dispatch  # a subclass has a class method of its own

    @staticmethod
    def _make_wrapper_subclass(
        cls: type,
        size: Sequence[int],
        strides: Sequence[int] | None = None,
        storage_offset: int | None = None,
        memory_format: Any = None,
        dtype: Dtype | None = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        **policies: Any,
    ) -> Any:
        """A tensor of a class with `__torch_dispatch__` that has no values of its own."""
        _check_class(cls)
        if not isinstance(size, (tuple, list)):
            raise errors.argument_type("_make_wrapper_subclass", "size", 2, "tuple of ints", size)
        dtype = dtype or state.default_dtype
        array = WrapperArray(tuple(size), dtype.numpy, _in_bytes(strides, dtype), None, _bytes(storage_offset, dtype))
        array.device = as_device(device)
        tensor = alias_of(wrap(array), cls)
        return tensor.requires_grad_() if requires_grad else tensor


def _check_class(cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )
    if not torch_dispatch.takes_over(cls):
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")


def _in_bytes(strides: Sequence[int] | None, dtype: Dtype) -> tuple[int, ...] | None:
    return None if strides is None else tuple([_bytes(stride, dtype) for stride in strides])


def _bytes(count: int | None, dtype: Dtype) -> int:
    return (count or 0) * dtype.itemsize
