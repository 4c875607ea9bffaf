"""`Tensor.to` in all its spellings: a device, a dtype, a device and a dtype, or another tensor's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import FROM_NUMPY, PYTHON_TYPES, is_dtype
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.memory_format import memory_format as MemoryFormat
from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch._support import errors
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.types import is_int


@extend_tensor
class MovingMethods:
    """Conversion to another dtype, device or memory format."""

    def to(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """This tensor with another dtype or on another device; the tensor itself when nothing changes."""
        first = args[0] if args else None
        if len(args) == 1 and not kwargs and not state.active_modes:
            if type(first) is Tensor and type(first._mt_array) is type(self._mt_array) is np.ndarray:
                first = first.dtype
            if type(first) is Dtype:
                return self if FROM_NUMPY[self._mt_array.dtype] is first else ops._to_copy(self, dtype=first)
            if type(first) is str and first == "cpu" and type(self._mt_array) is np.ndarray:
                return self
        return ops.to_dtype_layout(self, **options_of_to(args, kwargs))


_MOST_POSITIONAL = 4


def options_of_to(args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """What the arguments of `to` ask for, in whichever spelling they are."""
    if len(args) > _MOST_POSITIONAL:
        raise TypeError(f"to() takes from 0 to {_MOST_POSITIONAL} positional arguments but {len(args)} were given")
    first = args[0] if args else None
    spelling: Callable[..., dict[str, Any]] = _by_device
    if is_dtype(first):
        spelling = _by_dtype
    elif isinstance(first, Tensor) or "tensor" in kwargs:
        spelling = _by_tensor
    elif type(first) in (bool, float, complex):  # an integer is the number of a device
        spelling = _by_number
    try:
        options = spelling(*args, **kwargs)
    except TypeError:
        raise _no_such_spelling(args, kwargs) from None
    if is_int(options["device"]):
        options["device"] = Device(int(options["device"]))
    return options


def _by_device(
    device: Any = None, dtype: Any = None, non_blocking: Any = False, copy: Any = False, *, memory_format: Any = None
) -> dict[str, Any]:
    if not (
        (device is None or isinstance(device, (Device, str)) or is_int(device))
        and (dtype is None or is_dtype(dtype))
        and isinstance(non_blocking, bool)
        and isinstance(copy, bool)
        and (memory_format is None or isinstance(memory_format, MemoryFormat))
    ):
        raise TypeError
    return {
        "device": device,
        "dtype": None if dtype is None else PYTHON_TYPES.get(dtype, dtype),
        "non_blocking": non_blocking,
        "copy": copy,
        "memory_format": memory_format,
    }


def _by_number(
    number: Any, non_blocking: Any = False, copy: Any = False, *, memory_format: Any = None
) -> dict[str, Any]:
    """A number in the place of a tensor has the dtype that its type stands for."""
    return _by_dtype(type(number), non_blocking, copy, memory_format=memory_format)


def _by_dtype(dtype: Any, non_blocking: Any = False, copy: Any = False, *, memory_format: Any = None) -> dict[str, Any]:
    return _by_device(None, dtype, non_blocking, copy, memory_format=memory_format)


def _by_tensor(
    tensor: Any, non_blocking: Any = False, copy: Any = False, *, memory_format: Any = None
) -> dict[str, Any]:
    if not isinstance(tensor, Tensor):
        raise TypeError
    return _by_device(tensor.device, tensor.dtype, non_blocking, copy, memory_format=memory_format)


def _no_such_spelling(args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    given = [errors.type_name(value) for value in args]
    given += [f"{name}={errors.type_name(value)}" for name, value in kwargs.items()]
    got = ", ".join(given) + (", " if not args else "")
    return TypeError(
        f"to() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, "
        "torch.memory_format memory_format = None)\n"
        " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = "
        "None)\n"
        " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = "
        "None)\n"
    )
