"""Storages that count elements of a dtype. torch keeps them for old programs, with a warning."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import (
    bfloat16,
    complex64,
    complex128,
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
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.storage import UntypedStorage
from mindtorch._support import errors
from mindtorch._support.warnings import warn_once


def _warn_removal() -> None:
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()"
    )


class TypedStorage:
    """A storage seen as elements of one dtype."""

    __module__ = "mindtorch.storage"

    torch_name = "torch.storage.TypedStorage"
    is_cuda = is_hpu = is_sparse = False

    def __init__(self, *args: Any, device: Any = None, dtype: Any = None, wrap_storage: Any = None) -> None:
        _warn_removal()
        if wrap_storage is not None and dtype is None:
            raise _bad_call(_TYPED_CALLS, "Argument 'dtype' must be specified")
        self._fill(args, dtype or state.default_dtype, device, wrap_storage, _TYPED_CALLS)

    def _fill(self, args: tuple, dtype: Any, device: Any, wrapped: Any, calls: str) -> None:
        """What the constructors do; `calls` is how the class can be called, for the messages."""
        if len(args) > 1:
            raise _bad_call(calls, "Too many positional arguments")
        if wrapped is not None:
            self._untyped = _checked_storage(args, wrapped, calls)
        else:
            self._untyped = _storage_for(args[0] if args else 0, dtype, device, calls)
        self.dtype: Dtype = dtype

    # -------------------- what it is --------------------

    @property
    def _cdata(self) -> int:
        return self._untyped._cdata

    @property
    def device(self) -> Device:
        return self._untyped.device

    @property
    def filename(self) -> str | None:
        return self._untyped.filename

    def untyped(self) -> UntypedStorage:
        return self._untyped

    def nbytes(self) -> int:
        return self._untyped.nbytes()

    def element_size(self) -> int:
        return self.dtype.itemsize

    def size(self) -> int:
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def data_ptr(self) -> int:
        return self._untyped.data_ptr()

    def get_device(self) -> int | None:
        return self._untyped.get_device()

    def type(self) -> str:
        return f"torch.{self.pickle_storage_type()}"

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def pickle_storage_type(self) -> str:
        """The name of the class that this was in old versions of torch."""
        if self.dtype not in _LEGACY_STORAGES:
            raise KeyError(f"dtype {self.dtype} is not recognized")
        return f"{self.dtype.storage_name}Storage"

    def __bool__(self) -> bool:
        return len(self) > 0

    def __repr__(self) -> str:
        has_data = self.device.type == "cpu"
        lines = "".join(f" {element}\n" for element in self.tolist()) if has_data else "...\n"
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"

    # -------------------- elements --------------------

    def _elements(self) -> np.ndarray:
        return self._untyped.bytes_view()[: len(self) * self.dtype.itemsize].view(self.dtype.numpy)

    def tolist(self) -> list:
        elements = self._elements()
        return (elements.astype(np.float32) if self.dtype is bfloat16 else elements).tolist()

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        self._check_index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return self.tolist()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice):
            self._check_index(index)
            if not -len(self) <= index < len(self):
                raise IndexError(f"index {index} is out of bounds for dimension 0 with size {len(self)}")
        self._elements()[index] = self._checked(value)

    def _check_index(self, index: Any) -> None:
        if not isinstance(index, (int, np.integer)):
            raise RuntimeError(f"can't index a {_LIKE_TORCH} with {type(index)}")

    def _checked(self, value: Any) -> Any:
        if isinstance(value, (int, float, complex, np.generic, np.ndarray)) or hasattr(value, "__array__"):
            return np.asarray(value).astype(self.dtype.numpy)
        raise TypeError(f"can't assign a {errors.type_name(value)} to a torch.{self.dtype.storage_name}Tensor")

    def fill_(self, value: Any) -> "TypedStorage":
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> "TypedStorage":
        """The bytes of another storage, which must have as many."""
        self._untyped.copy_(source.untyped() if isinstance(source, TypedStorage) else source, non_blocking)
        return self

    # -------------------- other storages --------------------

    def _wrapped(self, untyped: UntypedStorage) -> "TypedStorage":
        return typed_storage(untyped, self.dtype)

    def clone(self) -> "TypedStorage":
        return self._wrapped(self._untyped.clone())

    def cpu(self) -> "TypedStorage":
        return self._wrapped(self._untyped.cpu())

    def __copy__(self) -> "TypedStorage":
        return self.clone()

    def __deepcopy__(self, memo: dict) -> "TypedStorage":
        return self._wrapped(self._untyped.__deepcopy__(memo))

    def __reduce__(self) -> tuple:
        return typed_view, (self._untyped, self.dtype)

    # -------------------- memory --------------------

    def resize_(self, size: int) -> None:
        if not isinstance(size, int) or isinstance(size, bool):
            raise RuntimeError(f"resize_ expects an int, but got {errors.type_name(size)}")
        self._untyped.resize_(size * self.dtype.itemsize)

    def resizable(self) -> bool:
        return self._untyped.resizable()

    def is_shared(self) -> bool:
        return self._untyped.is_shared()

    def share_memory_(self) -> "TypedStorage":
        self._untyped.share_memory_()
        return self

    def is_pinned(self, device: Any = None) -> bool:
        return self._untyped.is_pinned(device)

    def pin_memory(self, device: Any = None) -> "TypedStorage":
        return self._wrapped(self._untyped.pin_memory(device))

    @classmethod
    def from_buffer(cls, buffer: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> "TypedStorage":
        element_type = dtype or state.default_dtype
        return typed_storage(UntypedStorage.from_buffer(buffer, *args, dtype=element_type, **kwargs), element_type)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> "TypedStorage":
        """The first elements of a file, of the default dtype; if shared, what is written goes to the file."""
        nbytes = size * state.default_dtype.itemsize
        return typed_storage(UntypedStorage.from_file(filename, shared, nbytes), state.default_dtype)


_LIKE_TORCH = "<class 'torch.storage.TypedStorage'>"
_TYPED_CALLS = (
    "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
    " * (*, torch.device device, torch.dtype dtype)\n"
    " * (int size, *, torch.device device, torch.dtype dtype)\n"
    " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
    " * (*, UntypedStorage wrap_storage, torch.dtype dtype)\n"
)
_LEGACY_CALLS = (
    ".__new__ received an invalid combination of arguments. Expected one of:\n"
    " * no arguments\n"
    " * (int size)\n"
    " * (Sequence data)\n"
    " * (*, UntypedStorage wrap_storage)\n"
)


def typed_storage(untyped: UntypedStorage, element_type: Dtype) -> TypedStorage:
    """An untyped storage seen as elements of a dtype."""
    return TypedStorage(wrap_storage=untyped, dtype=element_type)


def typed_view(untyped: UntypedStorage, element_type: Dtype) -> TypedStorage:
    """The same for files and copies: the warning is for programs that use typed storages themselves."""
    storage = TypedStorage.__new__(TypedStorage)
    storage._untyped = untyped
    storage.dtype = element_type
    return storage


# -------------------- conversions: x.storage().double(), FloatStorage.int() --------------------


def _converted(elements: np.ndarray, element_type: Dtype) -> TypedStorage:
    """A new storage of the elements converted one by one."""
    result = UntypedStorage(elements.size * element_type.itemsize)
    result.bytes_view().view(element_type.numpy)[:] = elements.astype(element_type.numpy)
    return typed_storage(result, element_type)


def _conversion(element_type: Dtype) -> Any:
    def convert(self: Any) -> TypedStorage:
        elements = self.bytes_view() if isinstance(self, UntypedStorage) else self._elements()
        return _converted(elements, element_type)

    convert.__doc__ = f"The elements, of an untyped storage the bytes, converted to {element_type}."
    return convert


_CONVERSIONS = {
    "bfloat16": bfloat16, "bool": bool_dtype, "byte": uint8, "char": int8, "complex_double": complex128,
    "complex_float": complex64, "double": float64, "float": float32, "half": float16, "int": int32, "long": int64,
    "short": int16,
}  # fmt: skip

for _name, _dtype in _CONVERSIONS.items():
    for _storage_class in (UntypedStorage, TypedStorage):
        setattr(_storage_class, _name, _conversion(_dtype))


# -------------------- arguments of constructors --------------------


def _bad_call(calls: str, reason: str, error: Any = RuntimeError) -> Exception:
    return error(calls + reason)


def _checked_storage(args: tuple, wrapped: Any, calls: str) -> UntypedStorage:
    if args:
        raise _bad_call(calls, "No positional arguments should be given when using 'wrap_storage'")
    if not isinstance(wrapped, UntypedStorage):
        found = f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrapped)}"
        raise _bad_call(calls, found, TypeError)
    return wrapped


def _storage_for(content: Any, element_type: Any, device: Any, calls: str) -> UntypedStorage:
    """A new storage for a number of elements or for the elements of a sequence."""
    if not isinstance(element_type, Dtype):
        raise errors.argument_type("tensor", "dtype", None, "torch.dtype", element_type)
    if isinstance(content, (int, np.integer)):
        return UntypedStorage(content * element_type.itemsize, device=device)
    if isinstance(content, str):
        raise TypeError(f"new(): invalid data type '{errors.type_name(content)}'")
    if not isinstance(content, Sequence):
        like_torch = getattr(type(content), "torch_name", type(content).__qualname__)
        known = like_torch if like_torch.startswith("torch.") or type(content).__module__ == "builtins" else None
        shown = f"<class '{known or 'torch.' + like_torch}'>"
        raise _bad_call(calls, f"Argument type not recognized: {shown}", TypeError)
    storage = UntypedStorage(len(content) * element_type.itemsize, device=device)
    if storage.device.type == "cpu":
        storage.bytes_view().view(element_type.numpy)[:] = np.array(content).astype(element_type.numpy)
    return storage


# -------------------- one class for each dtype --------------------


class LegacyStorage(type):
    """The class of `FloatStorage` and its like: calling one makes a TypedStorage of that dtype."""

    dtype: Dtype

    def __call__(cls, *args: Any, wrap_storage: Any = None) -> TypedStorage:
        _warn_removal()
        storage = TypedStorage.__new__(TypedStorage)
        storage._fill(args, cls.dtype, None, wrap_storage, f"{cls!r}{_LEGACY_CALLS}")
        return storage

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def from_buffer(cls, buffer: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> TypedStorage:
        if dtype is not None:
            raise RuntimeError(
                "from_buffer: 'dtype' can only be specified in UntypedStorage.from_buffer and TypedStorage.from_buffer"
            )
        return typed_storage(UntypedStorage.from_buffer(buffer, *args, dtype=cls.dtype, **kwargs), cls.dtype)

    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        nbytes = size * cls.dtype.itemsize
        return typed_storage(UntypedStorage.from_file(filename, shared, nbytes), cls.dtype)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def _legacy_storage(element_type: Dtype) -> LegacyStorage:
    return LegacyStorage(f"{element_type.storage_name}Storage", (), {"dtype": element_type, "__module__": "torch"})


if TYPE_CHECKING:  # annotations name them, too

    class BFloat16Storage(TypedStorage): ...

    class BoolStorage(TypedStorage): ...

    class ByteStorage(TypedStorage): ...

    class CharStorage(TypedStorage): ...

    class ComplexDoubleStorage(TypedStorage): ...

    class ComplexFloatStorage(TypedStorage): ...

    class DoubleStorage(TypedStorage): ...

    class FloatStorage(TypedStorage): ...

    class HalfStorage(TypedStorage): ...

    class IntStorage(TypedStorage): ...

    class LongStorage(TypedStorage): ...

    class ShortStorage(TypedStorage): ...

else:
    BFloat16Storage = _legacy_storage(bfloat16)
    BoolStorage = _legacy_storage(bool_dtype)
    ByteStorage = _legacy_storage(uint8)
    CharStorage = _legacy_storage(int8)
    ComplexDoubleStorage = _legacy_storage(complex128)
    ComplexFloatStorage = _legacy_storage(complex64)
    DoubleStorage = _legacy_storage(float64)
    FloatStorage = _legacy_storage(float32)
    HalfStorage = _legacy_storage(float16)
    IntStorage = _legacy_storage(int32)
    LongStorage = _legacy_storage(int64)
    ShortStorage = _legacy_storage(int16)

_LEGACY_STORAGES = {each.dtype: each for each in list(globals().values()) if isinstance(each, LegacyStorage)}


def has_legacy_storage(element_type: Dtype) -> bool:
    """Whether there is a legacy class for a dtype; those that came later have none."""
    return element_type in _LEGACY_STORAGES


def storage_type_of(element_type: Dtype) -> LegacyStorage:
    """The legacy class of the storages of a dtype."""
    return _LEGACY_STORAGES[element_type]
