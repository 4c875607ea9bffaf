"""The objects that ACLNN functions take: descriptors of tensors, numbers, and lists of both.

Tensors are described as torch_npu does it: by sizes, strides and offset over the whole storage, whose address is
aligned. A descriptor is made once for an array and goes with it. It says no more than where the array lies and how, and
calls only read it: the next array that lies so in the same block of memory takes it over. Only results whose size the
op decides need one of their own, for that is where the op notes it. Descriptors of numbers and of lists do not belong
to an array: as many as were used lately are kept.
"""

import ctypes
import threading
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_bool, c_double, c_float, c_int64, c_uint64, c_void_p
from functools import cache, lru_cache
from typing import Any

import numpy as np

from mindtorch.backends.npu.array import Geometry, NpuArray, geometry_of
from mindtorch.backends.npu.runtime import api, device
from mindtorch.backends.npu.runtime.api import acl, check, ignore, out_pointer
from mindtorch.backends.npu.runtime.codes import DTYPE_CODES, FORMAT_BY_NDIM, FORMAT_ND

_MOST_DIMS = 8
_MOST_OF_A_BLOCK = 16  # descriptors of a block of memory; more are of arrays that alternate in it
_alive: dict[int, int] = {}  # of tensors, with the objects that they belong to


def _destroy_tensor(handle: int) -> None:
    ignore(acl.aclDestroyTensor(handle))


@lru_cache(maxsize=1024)
def dtype_code(dtype: np.dtype) -> int:
    """The number of a dtype in CANN's enum."""
    code = DTYPE_CODES.get(dtype.name)
    if code is None:
        raise RuntimeError(f"the NPU has no tensors of dtype torch.{dtype.name}")
    return code


class Descriptor:
    """That of a tensor; destroyed with the object. `resizes`: how often its memory had been exchanged."""

    __slots__ = ("handle", "resizes")

    def __init__(self, array: NpuArray, geometry: Geometry) -> None:
        self.handle = _new_tensor(array, geometry)
        self.resizes = array.root.resizes
        _alive[self.handle] = id(self)

    def __del__(self, alive: dict[int, int] = _alive, destroy: Callable = _destroy_tensor) -> None:
        handle: int = getattr(self, "handle", 0)  # 0 if it could not be made
        if alive.get(handle) == id(self):
            del alive[handle]
            destroy(handle)


class NoElements(RuntimeError):
    """A call of ACLNN was to get an array without elements, which its functions treat in different ways."""


def tensor(array: NpuArray) -> int:
    """The descriptor of an array, for as long as the array and its memory are."""
    if 0 in array.shape:
        raise NoElements("ACLNN gets no arrays without elements")
    return _described(array).handle


_lock = threading.RLock()  # making one may run the garbage collector, and that a program that launches


def _described(array: NpuArray) -> Descriptor:
    """One thread makes it. What another one has just been given for its call stays that of the array."""
    found = array.descriptor
    if found is None or found.resizes != array.root.resizes:
        with _lock:
            found = array.descriptor
            if found is None or found.resizes != array.root.resizes:
                array.descriptor = found = _descriptor_of(array)
    return found


def _descriptor_of(array: NpuArray) -> Descriptor:
    """The one that an earlier array left behind in the same memory, or a new one."""
    root = array.root
    if array.geometry is None or root.resizes:
        array.geometry = geometry_of(array)
    if root.resizes or root.block is None:
        return Descriptor(array, array.geometry)
    shared = root.block.descriptors
    key = (array.geometry, array.byte_offset) if array.byte_offset else array.geometry  # which `made` looks up, too
    found = shared.get(key)
    if found is None:
        if len(shared) >= _MOST_OF_A_BLOCK:
            shared.clear()
        found = shared[key] = Descriptor(array, array.geometry)
    return found


def tensor_of_its_own(array: NpuArray) -> int:
    """A descriptor that no other array will have, for a result whose size the op notes there."""
    array.descriptor = Descriptor(array, geometry_of(array))
    return array.descriptor.handle


def _new_tensor(array: NpuArray, geometry: Geometry) -> int:
    sizes, ndim, code, strides, form, extent = geometry.described or _describe(geometry)
    offset = array.byte_offset // geometry.dtype.itemsize
    handle = acl.aclCreateTensor(sizes, ndim, code, strides, offset, form, extent, 1, array.root.address)
    return handle or _failed("aclCreateTensor")


def _describe(geometry: Geometry) -> tuple[Any, int, int, Any, int, Any]:
    """Sizes, their number, the dtype, strides in elements, format and storage, as aclCreateTensor takes them."""
    ndim, itemsize = len(geometry.shape), geometry.dtype.itemsize
    if ndim > _MOST_DIMS:
        raise RuntimeError(f"the NPU has tensors of at most {_MOST_DIMS} dimensions, this one has {ndim}")
    row = c_int64 * ndim
    strides = row(*[stride // itemsize for stride in geometry.strides])
    form, extent = FORMAT_BY_NDIM.get(ndim, FORMAT_ND), (c_int64 * 1)(geometry.nbytes // itemsize)
    geometry.described = row(*geometry.shape), ndim, dtype_code(geometry.dtype), strides, form, extent
    return geometry.described


def _failed(function: str) -> Any:
    api.raise_code(561101, function)


def view_shape(handle: int) -> tuple[int, ...]:
    """The sizes of a tensor, which an op may have changed when it has run."""
    (sizes, sizes_address), (count, count_address) = out_pointer(POINTER(c_int64)), out_pointer(c_uint64)
    check(acl.aclGetViewShape(handle, sizes_address, count_address), "aclGetViewShape")
    found = tuple(sizes[: count.value])
    _delete_array(sizes)
    return found


def _delete_array(pointer: Any) -> None:
    """Give back what C++ has made with `new[]` for its caller."""
    _standard_library()._ZdaPv(pointer)


@cache
def _standard_library() -> ctypes.CDLL:
    return ctypes.CDLL("libstdc++.so.6")


# -------------------- what is kept --------------------


class Kept:
    """Descriptors by what they describe: those that were used lately.

    Two generations, so that a descriptor is never destroyed that a call has just been given: what is asked for joins
    the younger one, and when that is full, the older one ends.
    """

    def __init__(self, make: Callable[[Any], int], destroy: str, most: int = 1024) -> None:
        self._make = make
        self._destroy = destroy
        self._most = most
        self.young: dict[Any, int] = {}
        self._old: dict[Any, int] = {}
        self._lock = threading.RLock()  # what the garbage collector ends meanwhile may launch, too

    def __call__(self, values: Any) -> int | None:
        if values is None:
            return None
        key = tuple(values)
        return self.young.get(key) or self.found(key, values)

    def found(self, key: Any, value: Any) -> int:
        """One of the older generation, or a new one."""
        with self._lock:
            if len(self.young) >= self._most:
                self._end(self._old)
                self._old, self.young = self.young, {}
            handle = self.young.get(key) or self._old.pop(key, None) or self._make(value)
            self.young[key] = handle
        return handle

    def _end(self, handles: dict[Any, int]) -> None:
        while handles:
            ignore(getattr(acl, self._destroy)(handles.popitem()[1]))

    def clear(self) -> None:
        self._end(self.young)
        self._end(self._old)

    def forget(self) -> None:
        """The runtime that they belonged to is no more."""
        self.young, self._old = {}, {}


class KeptNumbers(Kept):
    def __call__(self, value: Any) -> int | None:
        """Numbers that are equal need not be the same one: 0.0 and -0.0, 1 and True."""
        if value is None:
            return None
        key = _number_key(value)
        return self.young.get(key) or self.found(key, value)


def _number_key(value: Any) -> tuple:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    return type(value), value if value else repr(value)


class KeptLists(Kept):
    """Of tensors. A list owns descriptors of its own; those of the arrays, which live as long, are its key."""

    def __call__(self, arrays: Sequence[NpuArray]) -> int:
        key = tuple(map(_described, arrays))
        return self.young.get(key) or self.found(key, arrays)


class KeptNumberLists(Kept):
    def __call__(self, values: Sequence[Any]) -> int:
        key = tuple(map(_number_key, values))
        return self.young.get(key) or self.found(key, values)


def _scalar(value: Any) -> int:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    kind = next(kind for kind in _NUMBERS if isinstance(value, kind))
    if kind is int and not -_MOST <= value < _MOST:
        kind, value = float, float(value)  # as in torch, whose numbers have 64 bits, too
    ctype, code = _NUMBERS[kind]
    number = ctype(value) if kind is not complex else (c_double * 2)(value.real, value.imag)
    return acl.aclCreateScalar(byref(number), code) or _failed("aclCreateScalar")


_MOST = 1 << 63
_NUMBERS: dict[type, tuple[Any, int]] = {
    bool: (c_bool, DTYPE_CODES["bool"]),
    int: (c_int64, DTYPE_CODES["int64"]),
    float: (c_double, DTYPE_CODES["float64"]),
    complex: (None, DTYPE_CODES["complex128"]),
}


def _array_of(ctype: Any, function: str) -> Callable[[Any], int]:
    def make(values: Sequence[Any]) -> int:
        created = getattr(acl, function)((ctype * len(values))(*values), len(values))
        return created or _failed(function)

    return make


scalar = KeptNumbers(_scalar, "aclDestroyScalar")
int_array = Kept(_array_of(c_int64, "aclCreateIntArray"), "aclDestroyIntArray")
float_array = Kept(_array_of(c_float, "aclCreateFloatArray"), "aclDestroyFloatArray")
bool_array = Kept(_array_of(c_bool, "aclCreateBoolArray"), "aclDestroyBoolArray")


def _list_of(values: Sequence[Any], make: Callable[[Any], int], create: str, destroy: str) -> int:
    """The descriptor of a list, which owns those of its members."""
    members: list[int] = []
    try:
        for value in values:
            members.append(make(value))
        return getattr(acl, create)((c_void_p * len(members))(*members), len(members)) or _failed(create)
    except RuntimeError:
        for member in members:
            ignore(getattr(acl, destroy)(member))
        raise


def _tensor_list(arrays: Sequence[NpuArray]) -> int:
    return _list_of(arrays, _member, "aclCreateTensorList", "aclDestroyTensor")


def _member(array: NpuArray) -> int:
    return _new_tensor(array, array.geometry or geometry_of(array))


def _scalar_list(values: Sequence[Any]) -> int:
    return _list_of(values, _scalar, "aclCreateScalarList", "aclDestroyScalar")


tensor_list = KeptLists(_tensor_list, "aclDestroyTensorList", 256)
scalar_list = KeptNumberLists(_scalar_list, "aclDestroyScalarList", 256)
_kept = (tensor_list, scalar_list, scalar, int_array, float_array, bool_array)


def clear() -> None:
    """Destroy all there are, at exit."""
    for kept in _kept:
        kept.clear()
    while _alive:
        _destroy_tensor(_alive.popitem()[0])


def forget() -> None:
    """The runtime that they belonged to is no more: for tests that restart it."""
    _alive.clear()
    for kept in _kept:
        kept.forget()


device.at_exit.append(clear)
device.after_fork.append(forget)


def text(value: str) -> bytes:
    return value.encode()
