"""What torch keeps for old programs: `Tensor(2, 3)`, `FloatTensor` and its like, `x.type()`, `x.new()`."""

from typing import Any

import numpy as np

from mindtorch import errors, state
from mindtorch.creation import as_tensor
from mindtorch.device import CPU, as_device, device
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments import ints_of, is_int
from mindtorch.dtype import ALL_DTYPES, bfloat16, dtype, float16, float32, float64, int8, int16, int32, int64, uint8
from mindtorch.dtype import bool as bool_dtype
from mindtorch.size import Size
from mindtorch.storage import UntypedStorage
from mindtorch.tensor import Tensor, alias_of, extend_tensor
from mindtorch.typed_storage import TypedStorage


def legacy_tensor(args: tuple, element_type: dtype, target: device) -> Tensor:
    """The tensor of a legacy constructor: from sizes (uninitialised), from data, or on another tensor's memory."""
    if not args:
        return ops.empty((0,), dtype=element_type, device=target)
    first = args[0]
    if isinstance(first, Tensor) and len(args) == 1 and not is_int(first):
        return alias_of(first)
    if isinstance(first, (UntypedStorage, TypedStorage)) and len(args) == 1:
        return ops.empty((0,), dtype=element_type, device=target).set_(first)
    if isinstance(first, Size) or is_int(first):
        sizes = first if isinstance(first, Size) else ints_of(args, "new", "size")
        return ops.empty(_checked_sizes(tuple(sizes)), dtype=element_type, device=target)
    if isinstance(first, (list, tuple, np.ndarray)) and len(args) == 1:
        return as_tensor(first, dtype=element_type, device=target).clone()
    if isinstance(first, (float, bool, np.generic)):
        raise TypeError(f"new(): data must be a sequence (got {errors.type_name(first)})")
    raise TypeError(f"new(): invalid data type '{errors.type_name(first)}'")


def _checked_sizes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(sizes)}")
    return sizes


def _legacy_device(value: Any) -> device:
    target = CPU if value is None else as_device(value)
    if target.type != "cpu":
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {target.type} was passed")
    return target


@extend_tensor
class LegacyMethods:
    """The constructor of Tensor, `type` and `new`."""

    @staticmethod
    def __new__(cls: type, *args: Any, device: Any = None) -> Any:
        result = legacy_tensor(args, state.default_dtype, _legacy_device(device))
        return result if cls is Tensor else alias_of(result, cls)

    def new(self: Any, *args: Any, device: Any = None) -> Tensor:
        """A tensor of this one's dtype by the rules of the legacy constructor."""
        return legacy_tensor(args, self.dtype, self.device if device is None else as_device(device))

    def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The legacy type name, or the tensor converted to a dtype or legacy type."""
        if dtype is None:
            return _type_name(self)
        return self.to(_dtype_of_legacy(dtype), non_blocking=non_blocking)


def _type_name(tensor: Tensor) -> str:
    kind = tensor.device.type
    sparse = "sparse." if tensor.is_sparse else ""
    place = "" if kind in ("cpu", "meta") else f"{kind}."
    return f"torch.{place}{sparse}{tensor.dtype.storage_name}Tensor"


def _dtype_of_legacy(value: Any) -> dtype:
    if isinstance(value, dtype):
        return value
    if isinstance(value, LegacyType):
        return value.dtype
    if value is Tensor:
        return state.default_dtype
    if not isinstance(value, (str, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = value if isinstance(value, str) else value.__name__
    found = _DTYPES_BY_TYPE_NAME.get(name)
    if found is None:
        raise ValueError(f"invalid type: '{name}'")
    return found


class LegacyType(type):
    """The class of `FloatTensor` and its like: calling one makes a Tensor of that dtype."""

    dtype: dtype

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        return legacy_tensor(args, cls.dtype, _legacy_device(device))

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and instance.is_cpu

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def _legacy_type(element_type: dtype) -> LegacyType:
    return LegacyType(f"{element_type.storage_name}Tensor", (), {"dtype": element_type, "__module__": "torch"})


BFloat16Tensor = _legacy_type(bfloat16)
BoolTensor = _legacy_type(bool_dtype)
ByteTensor = _legacy_type(uint8)
CharTensor = _legacy_type(int8)
DoubleTensor = _legacy_type(float64)
FloatTensor = _legacy_type(float32)
HalfTensor = _legacy_type(float16)
IntTensor = _legacy_type(int32)
LongTensor = _legacy_type(int64)
ShortTensor = _legacy_type(int16)

# The names that `x.type(name)` knows; complex types have no class.
_DTYPES_BY_TYPE_NAME = {f"torch.{each.storage_name}Tensor": each for each in ALL_DTYPES}
