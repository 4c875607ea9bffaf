"""The objects that ACLNN functions take: descriptors of tensors, numbers, and lists of both.

Tensors are described as torch_npu does it: by sizes, strides and offset over the whole storage, whose address is
aligned. Descriptors of tensors live for one launch. Those of numbers and of lists of integers do not depend on
memory: they are kept, as programs use few of them again and again.
"""

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_bool, c_double, c_float, c_int64, c_uint64, c_void_p
from functools import cache, lru_cache
from typing import Any

import numpy as np

from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.runtime import api, device
from mindtorch.backends.npu.runtime.api import acl, check, out_pointer
from mindtorch.backends.npu.runtime.codes import DTYPE_CODES, FORMAT_BY_NDIM, FORMAT_ND

_MOST_DIMS = 8


@lru_cache(maxsize=1024)
def dtype_code(dtype: np.dtype) -> int:
    """The number of a dtype in CANN's enum."""
    code = DTYPE_CODES.get(dtype.name)
    if code is None:
        raise RuntimeError(f"the NPU has no tensors of dtype torch.{dtype.name}")
    return code


@lru_cache(maxsize=8192)
def _geometry(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> tuple[Any, int, int, Any, int]:
    """Sizes, their number, the dtype, strides in elements, and the format, as aclCreateTensor takes them."""
    ndim = len(shape)
    if ndim > _MOST_DIMS:
        raise RuntimeError(f"the NPU has tensors of at most {_MOST_DIMS} dimensions, this one has {ndim}")
    row = c_int64 * ndim
    steps = row(*[stride // dtype.itemsize for stride in strides])
    return row(*shape), ndim, dtype_code(dtype), steps, FORMAT_BY_NDIM.get(ndim, FORMAT_ND)


@lru_cache(maxsize=8192)
def _extent(count: int) -> Any:
    """The only size of a storage of so many elements."""
    return (c_int64 * 1)(count)


def tensor(array: NpuArray | None) -> int | None:
    """The descriptor of an array; None where an op has no tensor."""
    if array is None:
        return None
    sizes, ndim, code, strides, form = _geometry(array.shape, array.strides, array.dtype)
    root, itemsize = array.root, array.dtype.itemsize
    offset = array.byte_offset // itemsize
    handle = acl.aclCreateTensor(
        sizes, ndim, code, strides, offset, form, _extent(root.nbytes // itemsize), 1, root.address
    )
    return handle or _failed("aclCreateTensor")


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


def destroy_tensor(handle: int | None) -> None:
    if handle is not None:
        acl.aclDestroyTensor(handle)


def tensor_list(arrays: Sequence[NpuArray]) -> int:
    """The descriptor of a list, which owns those of its members."""
    members = [tensor(array) for array in arrays]
    handle = acl.aclCreateTensorList((c_void_p * len(members))(*members), len(members))
    if not handle:
        for member in members:
            destroy_tensor(member)
        _failed("aclCreateTensorList")
    return handle


def destroy_tensor_list(handle: int) -> None:
    acl.aclDestroyTensorList(handle)


# -------------------- what is kept --------------------


class Kept:
    """Descriptors by what they describe; the oldest go when there are too many."""

    def __init__(self, make: Callable[[Any], int], destroy: str, most: int = 2048) -> None:
        self._make = make
        self._destroy = destroy
        self._most = most
        self._handles: dict[Any, int] = {}

    def __call__(self, value: Any) -> int | None:
        if value is None:
            return None
        key = self.key(value)
        handle = self._handles.get(key)
        return handle if handle is not None else self._new(key, value)

    def key(self, value: Any) -> Any:
        return tuple(value)

    def _new(self, key: Any, value: Any) -> int:
        if len(self._handles) >= self._most:
            oldest = next(iter(self._handles))
            getattr(acl, self._destroy)(self._handles.pop(oldest))
        handle = self._handles[key] = self._make(value)
        return handle

    def clear(self) -> None:
        while self._handles:
            getattr(acl, self._destroy)(self._handles.popitem()[1])


class KeptNumbers(Kept):
    def key(self, value: Any) -> Any:
        """Numbers that are equal need not be the same one: 0.0 and -0.0, 1 and True."""
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.item()
        return type(value), value if value else repr(value)


def _scalar(value: Any) -> int:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    kind = next(kind for kind in _NUMBERS if isinstance(value, kind))
    ctype, code = _NUMBERS[kind]
    number = ctype(value) if kind is not complex else (c_double * 2)(value.real, value.imag)
    return acl.aclCreateScalar(byref(number), code) or _failed("aclCreateScalar")


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


def scalar_list(values: Sequence[Any]) -> int:
    """The descriptor of a list of numbers, which owns those of its members."""
    members = [_scalar(value) for value in values]
    handle = acl.aclCreateScalarList((c_void_p * len(members))(*members), len(members))
    return handle or _failed("aclCreateScalarList")


def destroy_scalar_list(handle: int) -> None:
    acl.aclDestroyScalarList(handle)


def clear() -> None:
    """Destroy all that is kept."""
    for kept in (scalar, int_array, float_array, bool_array):
        kept.clear()


device.at_exit.append(clear)


def text(value: str) -> bytes:
    return value.encode()
