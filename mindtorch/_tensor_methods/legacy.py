"""What torch keeps for old programs: `Tensor(2, 3)`, `FloatTensor` and its like, `x.type()`, `x.new()`."""

import builtins
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from mindtorch._core import state
from mindtorch._core.device import CPU, as_device, device
from mindtorch._core.dtype import (
    ALL_DTYPES,
    bfloat16,
    c_name,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from mindtorch._core.dtype import bool as bool_dtype
from mindtorch._core.nested_data import is_sequence
from mindtorch._core.size import Size
from mindtorch._core.storage import UntypedStorage
from mindtorch._core.tensor import Tensor, alias_of, extend_tensor
from mindtorch._core.typed_storage import TypedStorage
from mindtorch._functions.creation import as_tensor
from mindtorch._support import errors
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.conversions import ints_of
from mindtorch.dispatch.arguments.overload_texts import no_overload
from mindtorch.dispatch.arguments.types import is_int

Made = TypeVar("Made")

# torch's signatures of the constructor, as its error lists them.
_FORMS = (
    ("*", "torch.device device = None"),
    ("torch.Storage storage",),
    ("Tensor other",),
    ("tuple of ints size", "*", "torch.device device = None"),
    ("object data", "*", "torch.device device = None"),
)


def legacy_tensor(args: tuple, named: Mapping[str, Any], element_type: dtype, target: device) -> Tensor:
    """The tensor of a legacy constructor: from sizes (uninitialised), from data, or on another tensor's memory.

    Its one argument is called `storage`, `other`, `size` or `data`, by what it is; sizes may be several.
    """
    if not args and not named:
        return ops.empty((0,), dtype=element_type, device=target)
    if args and not named and not isinstance(args[0], Tensor) and is_int(args[0]):
        return _empty(ints_of(args, "new", "size"), element_type, target)
    name, value = _only_argument(args, named)
    if name in ("storage", None) and isinstance(value, (UntypedStorage, TypedStorage)):
        return ops.empty((0,), dtype=element_type, device=target).set_(_storage_of(value, element_type))
    if name in ("other", None) and isinstance(value, Tensor):
        return alias_of(_of_type(value, element_type, target))
    if isinstance(value, Size) or (name == "size" and isinstance(value, (tuple, list))):
        return _empty(ints_of(value, "new", "size"), element_type, target)
    if name not in ("data", None):
        raise no_overload("new", _FORMS, args, named)
    return _from_data(value, element_type, target)


def _only_argument(args: tuple, named: Mapping[str, Any]) -> tuple[str | None, Any]:
    if len(args) + len(named) != 1:
        raise no_overload("new", _FORMS, args, named)
    return next(iter(named.items())) if named else (None, args[0])


def _empty(sizes: Sequence[int], element_type: dtype, target: device) -> Tensor:
    return ops.empty(_checked_sizes(tuple(map(int, sizes))), dtype=element_type, device=target)


def _storage_of(storage: UntypedStorage | TypedStorage, element_type: dtype) -> Any:
    if isinstance(storage, TypedStorage) and storage.dtype is not element_type:
        raise RuntimeError(
            f"Expected a Storage of type {element_type.storage_name} or an UntypedStorage, but got type "
            f"{storage.dtype.storage_name} for argument 1 'storage'"
        )
    return storage


def _of_type(tensor: Tensor, element_type: dtype, target: device) -> Tensor:
    """The tensor itself, which the constructor of another dtype or device refuses."""
    tensor.untyped_storage()  # refuses layouts that have none
    if tensor.dtype is not element_type or tensor.device.type != target.type:
        expected, found = _options(element_type, target), _options(tensor.dtype, tensor.device)
        raise TypeError(f"expected {expected} (got {found})")
    return tensor


def _options(element_type: dtype, target: device) -> str:
    return (
        f"TensorOptions(dtype={c_name(element_type)}, device={target}, layout=Strided, requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))"
    )


def _from_data(data: Any, element_type: dtype, target: device) -> Tensor:
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{errors.type_name(data)}'")
    if not is_sequence(data) or isinstance(data, np.generic):
        raise TypeError(f"new(): data must be a sequence (got {errors.type_name(data)})")
    return as_tensor(data, dtype=element_type, device=target).clone()


def _checked_sizes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(sizes)}")
    return sizes


def _legacy_device(value: Any, own: device = CPU) -> device:
    target = own if value is None else as_device(value)
    if target.type != own.type:
        raise RuntimeError(
            f"legacy constructor expects device type: {own.type} but device type: {target.type} was passed"
        )
    return target


@extend_tensor
class LegacyMethods:
    """The constructor of Tensor, `type` and `new`."""

    @staticmethod
    def __new__(cls: builtins.type[Made], *args: Any, device: Any = None, **named: Any) -> Made:
        target = _legacy_device(device)
        # `Tensor(other)` is a copy of any dtype, unlike `FloatTensor(other)`.
        kind = args[0].dtype if len(args) == 1 and isinstance(args[0], Tensor) else state.default_dtype
        result = legacy_tensor(args, named, kind, target)
        return result if cls is Tensor else alias_of(result, cls)  # type: ignore[return-value]

    def new(self: Any, *args: Any, device: Any = None, **named: Any) -> Tensor:
        """A tensor of this one's dtype by the rules of the legacy constructor."""
        return legacy_tensor(args, named, self.dtype, _legacy_device(device, self.device))

    @overload
    def type(self, dtype: None = None, non_blocking: bool = False) -> str: ...
    @overload
    def type(self, dtype: Any, non_blocking: bool = False) -> Tensor: ...
    def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The legacy type name, or the tensor converted to a dtype or legacy type."""
        if dtype is None:
            return _type_name(self)
        element_type, kind = _meant_by(dtype)
        if kind is not None and kind != self.device.type:
            return self.to(kind, element_type, non_blocking=non_blocking)
        return self.to(element_type, non_blocking=non_blocking)


def _type_name(tensor: Tensor) -> str:
    kind = tensor.device.type
    sparse = "sparse." if tensor.is_sparse else ""
    place = "" if kind in ("cpu", "meta") else f"{kind}."
    return f"torch.{place}{sparse}{tensor.dtype.storage_name}Tensor"


def _meant_by(value: Any) -> tuple[dtype, str | None]:
    """The dtype that a dtype, a legacy type or its name means, and the type of device, if that is meant, too."""
    if isinstance(value, dtype):
        return value, None
    if isinstance(value, LegacyType):
        return value.dtype, value.device.type
    if value is Tensor:
        return state.default_dtype, "cpu"
    if not isinstance(value, (str, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = value if isinstance(value, str) else value.__name__
    found = _TYPES_BY_NAME.get(name)
    if found is None:
        raise ValueError(f"invalid type: '{name}'")
    return found


class LegacyType(type):
    """The class of `FloatTensor` and its like: calling one makes a Tensor of that dtype, on that type of device."""

    dtype: dtype
    device: device

    def __call__(cls, *args: Any, device: Any = None, **named: Any) -> Tensor:
        return legacy_tensor(args, named, cls.dtype, _legacy_device(device, cls.device))

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, Tensor):
            return False
        return instance.dtype is cls.dtype and instance.device.type == cls.device.type

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def _legacy_type(element_type: dtype) -> LegacyType:
    return legacy_type_of(element_type, CPU)


def legacy_type_of(element_type: dtype, target: device) -> LegacyType:
    """The class for a dtype and a type of device: `torch.npu.FloatTensor`."""
    place = "torch" if target is CPU else f"torch.{target.type}"
    facts = {"dtype": element_type, "device": target, "__module__": place}
    return LegacyType(f"{element_type.storage_name}Tensor", (), facts)


if TYPE_CHECKING:  # annotations name them, too

    class BFloat16Tensor(Tensor): ...

    class BoolTensor(Tensor): ...

    class ByteTensor(Tensor): ...

    class CharTensor(Tensor): ...

    class DoubleTensor(Tensor): ...

    class FloatTensor(Tensor): ...

    class HalfTensor(Tensor): ...

    class IntTensor(Tensor): ...

    class LongTensor(Tensor): ...

    class ShortTensor(Tensor): ...

else:
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
_TYPES_BY_NAME = {
    f"torch.{place}{each.storage_name}Tensor": (each, kind)
    for each in ALL_DTYPES
    for place, kind in (("", "cpu"), ("npu.", "npu"))
}
