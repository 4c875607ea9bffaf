"""Storage: the memory that a tensor and its views look at.

Nothing is stored for it in a tensor. The root buffer of the tensor's array is the storage; an object for it is made
when somebody asks, and the same object is given as long as it lives.
"""

import warnings
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from mindtorch import errors, geometry
from mindtorch.device import CPU
from mindtorch.device import device as Device
from mindtorch.dtype import dtype as Dtype


def root_of(array: Any) -> Any:
    """The buffer at the bottom of an array: the array that owns the memory, or the `root` of a backend's own array."""
    if not isinstance(array, np.ndarray):
        return array.root
    base = array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            array = base
        base = getattr(base, "base", None)  # NumPy's as_strided puts an object of its own between two arrays
    return array


def address_of(array: Any) -> int:
    """Where the first element lies. 0 for an array without data."""
    if not isinstance(array, np.ndarray):
        return array.address
    return array.__array_interface__["data"][0] if array.size else 0


def byte_offset_of(array: Any) -> int:
    """How many bytes behind the start of its root an array begins."""
    if not isinstance(array, np.ndarray):
        return array.byte_offset
    root = root_of(array)
    if root is array:
        return 0
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return offset if 0 <= offset <= root.nbytes else 0  # an array without elements may point anywhere


class _Memory:
    """The bytes from the first element of an array on, for the array interface, which keeps the array alive.

    It has no `base`, so that to `root_of` an array over it is the owner of its memory.
    """

    def __init__(self, array: np.ndarray, nbytes: int) -> None:
        self.array = array
        address, is_read_only = array.__array_interface__["data"]
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (nbytes,),
            "data": (address, is_read_only),
        }


def bytes_of(array: np.ndarray) -> np.ndarray:
    """The memory from the first element of an array to its last, as a root of its own."""
    if array.size == 0:
        return np.empty(0, np.uint8)
    last = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    return np.asarray(_Memory(array, last + array.itemsize))


def with_own_storage(array: np.ndarray) -> np.ndarray:
    """The same elements for a tensor whose storage begins with them, whatever they are a part of."""
    if array.base is None or not array.size:
        return array
    return np.ndarray(array.shape, array.dtype, bytes_of(array), 0, array.strides)


def memory_of(root: np.ndarray) -> np.ndarray:
    """A C-contiguous array over the memory of a root, which NumPy may have laid out with permuted dimensions."""
    if root.flags.c_contiguous:
        return root
    ordered = root.transpose(geometry.memory_order(root.shape, root.strides)[::-1])
    return ordered if ordered.flags.c_contiguous else bytes_of(root)


class UntypedStorage:
    """The bytes that a tensor and its views share."""

    torch_name = "torch.storage.UntypedStorage"
    __slots__ = ("_root", "__weakref__")

    def __init__(self, content: int | Sequence[int] = 0) -> None:
        self._root = np.zeros(content, np.uint8) if isinstance(content, int) else np.array(content, np.uint8)

    @property
    def _cdata(self) -> int:
        return id(self._root)

    @property
    def device(self) -> Device:
        return CPU if isinstance(self._root, np.ndarray) else self._root.device

    def bytes_view(self) -> np.ndarray:
        """The bytes as a NumPy array that shares the memory."""
        return memory_of(self._root).reshape(-1).view(np.uint8)

    def nbytes(self) -> int:
        return self._root.nbytes

    def size(self) -> int:
        return self._root.nbytes

    def element_size(self) -> int:
        return 1

    def data_ptr(self) -> int:
        return address_of(self._root)

    def is_shared(self) -> bool:
        return False

    def is_pinned(self, device: Any = None) -> bool:
        return False

    def pin_memory(self, device: Any = None) -> "UntypedStorage":
        raise errors.no_accelerator()

    def share_memory_(self) -> "UntypedStorage":
        """Nothing to do: tensors are not shared between processes."""
        return self

    def tolist(self) -> list[int]:
        return self.bytes_view().tolist()

    def clone(self) -> "UntypedStorage":
        copy = UntypedStorage(self.nbytes())
        copy.bytes_view()[:] = self.bytes_view()
        return copy

    def fill_(self, value: int) -> "UntypedStorage":
        self.bytes_view()[:] = value
        return self

    def copy_(self, source: "UntypedStorage", non_blocking: bool = False) -> "UntypedStorage":
        self.bytes_view()[:] = source.bytes_view()
        return self

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return storage_from_bytes, (self.bytes_view().tobytes(),)

    def __deepcopy__(self, memo: dict) -> "UntypedStorage":
        if id(self) not in memo:
            memo[id(self)] = self.clone()
        return memo[id(self)]

    def __len__(self) -> int:
        return self._root.nbytes

    def __getitem__(self, index: Any) -> Any:
        found = self.bytes_view()[index]
        return storage_of(bytes_of(found)) if isinstance(index, slice) else int(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._root is other._root

    def __hash__(self) -> int:
        return id(self._root)

    def __repr__(self) -> str:
        has_data = isinstance(self._root, np.ndarray)
        lines = "".join(f" {byte}\n" for byte in self.tolist()) if has_data else "...\n"
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


def storage_from_bytes(content: bytes) -> UntypedStorage:
    """A storage with the given content; what pickles of storages call."""
    storage = UntypedStorage(len(content))
    storage.bytes_view()[:] = np.frombuffer(content, np.uint8)
    return storage


class TypedStorage:
    """A storage seen as elements of one dtype. torch keeps it for old programs, with a warning."""

    torch_name = "torch.storage.TypedStorage"

    def __init__(self, untyped: UntypedStorage, element_type: Dtype) -> None:
        self._untyped = untyped
        self.dtype = element_type

    def untyped(self) -> UntypedStorage:
        return self._untyped

    @property
    def _cdata(self) -> int:
        return self._untyped._cdata

    @property
    def device(self) -> Device:
        return self._untyped.device

    def nbytes(self) -> int:
        return self._untyped.nbytes()

    def element_size(self) -> int:
        return self.dtype.itemsize

    def size(self) -> int:
        return len(self)

    def data_ptr(self) -> int:
        return self._untyped.data_ptr()

    def tolist(self) -> list:
        return self._elements().tolist()

    def __len__(self) -> int:
        return self._untyped.nbytes() // self.dtype.itemsize

    def __getitem__(self, index: int) -> Any:
        return self._elements()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements()[index] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def _elements(self) -> np.ndarray:
        return self._untyped.bytes_view()[: len(self) * self.dtype.itemsize].view(self.dtype.numpy)

    def __repr__(self) -> str:
        lines = "".join(f" {element}\n" for element in self.tolist())
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"


# The storages that somebody holds, by the id of their root: asking twice gives the same object.
_storages: WeakValueDictionary[int, UntypedStorage] = WeakValueDictionary()


def storage_of(array: Any) -> UntypedStorage:
    """The storage that an array looks at."""
    root = root_of(array)
    storage = _storages.get(id(root))
    if storage is None:
        storage = UntypedStorage.__new__(UntypedStorage)
        storage._root = root
        _storages[id(root)] = storage
    return storage


def typed_storage_of(array: Any, element_type: Dtype) -> TypedStorage:
    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()",
        UserWarning,
        stacklevel=3,
    )
    return TypedStorage(storage_of(array), element_type)


def array_on(storage: UntypedStorage, element_type: Dtype, offset: int, shape: tuple, strides: tuple) -> np.ndarray:
    """An array that looks at a storage; offset and strides count elements."""
    itemsize = element_type.itemsize
    return np.ndarray(
        shape,
        element_type.numpy,
        buffer=storage.bytes_view(),
        offset=offset * itemsize,
        strides=[stride * itemsize for stride in strides],
    )
