"""Storage: the memory that a tensor and its views look at.

Nothing is stored for it in a tensor. The root buffer of the tensor's array is the storage; an object for it is made
on demand, and the same object is given as long as it lives.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from mindtorch._core import aligned, geometry
from mindtorch._core.buffers import Block, HostRoot, as_root, bytes_of, maker_of, memory_of, pinned_copy, root_of
from mindtorch._core.buffers import is_pinned as _is_pinned
from mindtorch._core.device import CPU, accelerator, as_device
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.shared_memory import mapping_of, root_of_file, shared_root
from mindtorch._support import errors

# Called with the old root and the storage when its memory has moved. The layer of the tensors puts a function here that
# gives those which look at the old root an array on the new one.
followers: list[Callable[[Any, "UntypedStorage"], None]] = []


class UntypedStorage:
    """The bytes that a tensor and its views share."""

    __module__ = "mindtorch.storage"

    torch_name = "torch.storage.UntypedStorage"
    __slots__ = ("_root", "__weakref__")

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False

    def __init__(self, *content: Any, device: Any = None) -> None:
        if len(content) > 1:
            raise _no_such_call(content)
        found = _bytes_for(content[0] if content else 0)
        self._root = _root_on(CPU if device is None else as_device(device), found)
        _storages[id(self._root)] = self

    # -------------------- what and where it is --------------------

    @property
    def _cdata(self) -> int:
        return id(self._root)

    @property
    def memory(self) -> Any:
        """What is done with the memory, on whatever device it is."""
        return as_root(self._root)

    @property
    def device(self) -> Device:
        return self.memory.device

    @property
    def filename(self) -> str | None:
        """The file that the memory is mapped from."""
        mapping = mapping_of(self._root)
        return None if mapping is None else mapping.filename

    def nbytes(self) -> int:
        return self.memory.nbytes

    size = __len__ = nbytes

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def element_size(self) -> int:
        return 1

    def data_ptr(self) -> int:
        return self.memory.address if self.nbytes() else 0

    def get_device(self) -> int | None:
        return self.device.index

    def type(self) -> str:
        return self.torch_name

    def resizable(self) -> bool:
        return mapping_of(self._root) is None

    def is_pinned(self, device: Any = None) -> bool:
        return _is_pinned(self._root)

    def pin_memory(self, device: Any = None) -> "UntypedStorage":
        """The same bytes in memory that the accelerator reads and writes by itself."""
        if accelerator() is None:
            raise errors.no_accelerator()
        if self.device.type != "cpu":
            raise TypeError(f"cannot pin '{self.type()}' only CPU memory can be pinned")
        return self if self.is_pinned() else _storage_on(root_of(pinned_copy(self.memory.to_host())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._root is other._root

    __hash__ = object.__hash__  # the same as long as it lives, though its memory may move

    # -------------------- content --------------------

    def bytes_view(self) -> np.ndarray:
        """The bytes as a NumPy array that shares the memory, which has to be the CPU's."""
        if self.device is not CPU:
            raise NotImplementedError(f"Not available for '{self.device.type}' device type")
        return self.memory.to_host()

    def read(self) -> np.ndarray:
        """The bytes as a NumPy array: those of another device are a copy."""
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        return self.memory.to_host()

    def tolist(self) -> list[int]:
        return self.read().tolist()

    def fill_(self, value: int) -> "UntypedStorage":
        if not _is_plain_int(value):
            raise RuntimeError(f"fill_ expects int, but got {errors.type_name(value)}")
        self.memory.fill(value & 0xFF)
        return self

    def copy_(self, source: "UntypedStorage", non_blocking: bool = False) -> "UntypedStorage":
        if not isinstance(source, UntypedStorage):
            raise errors.argument_type("copy_", "src", 1, "torch.Storage", source)
        if self.nbytes() != source.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self.memory.copy_from(source.memory)
        return self

    def byteswap(self, dtype: Dtype) -> None:
        """Reverse the bytes of every number of a dtype."""
        if not isinstance(dtype, Dtype):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        width = dtype.itemsize // (2 if dtype.is_complex else 1)
        if self.nbytes() % width:
            raise RuntimeError(f"the length of data is not a multiple of {width}")
        numbers = self.bytes_view().reshape(-1, width)
        numbers[:] = numbers[:, ::-1].copy()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _storage_on(bytes_of(self.bytes_view()[_checked(index)]))
        if not _is_plain_int(index):
            raise TypeError(f"can't index a {self.torch_name.replace('storage.', '')} with {errors.type_name(index)}")
        place = index + self.nbytes() if index < 0 else index
        if not 0 <= place < self.nbytes():
            raise IndexError(f"index {place} out of range for storage of size {self.nbytes()}")
        return int(self.read()[place])

    def __setitem__(self, index: Any, value: int) -> None:
        if not isinstance(index, slice) and not _is_plain_int(index):
            raise RuntimeError(f"can't index a torch.UntypedStorage with {errors.type_name(index)}")
        if not _is_plain_int(value):
            found = errors.type_name(value)
            raise RuntimeError(f"can only set storage content with a int types, but got {found} instead")
        if isinstance(index, slice):
            index = _checked(index)
        elif not 0 <= index < self.nbytes():
            raise RuntimeError("out of bounds")
        content = self.read()
        content[index] = value & 0xFF
        if self.device is not CPU:  # of which it was a copy
            self.memory.copy_from(HostRoot(content))

    def __repr__(self) -> str:
        lines = "...\n" if self.device.type == "meta" else "".join(f" {byte}\n" for byte in self.tolist())
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"

    # -------------------- copies --------------------

    def untyped(self) -> "UntypedStorage":
        return self

    def new(self) -> "UntypedStorage":
        """An empty storage."""
        return UntypedStorage(0, device=self.device)

    def clone(self) -> "UntypedStorage":
        return UntypedStorage(self.nbytes(), device=self.device).copy_(self)

    def cpu(self) -> "UntypedStorage":
        """A storage on the CPU with these bytes; the storage itself if it is there."""
        return self if self.device is CPU else _storage_on(self.memory.to_host())

    def to(self, *, device: Any, non_blocking: bool = False) -> "UntypedStorage":
        """A storage on a device with these bytes; the storage itself if it is there."""
        found = UntypedStorage(0, device=device)
        return self if found.device == self.device else found.resize_(self.nbytes()).copy_(self, non_blocking)

    def npu(self, device: Any = None, non_blocking: bool = False) -> "UntypedStorage":
        """The same on an NPU, given by its number or in full."""
        return self.to(device=_numbered("npu", device), non_blocking=non_blocking)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> "UntypedStorage":
        """An error: there is no CUDA here, unless the name means another type of device."""
        return self.to(device=_numbered("cuda", device), non_blocking=non_blocking)

    def __reduce_ex__(self, protocol: Any) -> tuple:
        content = self.memory.to_host().tobytes()
        return storage_from_bytes, (content,) if self.device is CPU else (content, str(self.device))

    def __deepcopy__(self, memo: dict) -> "UntypedStorage":
        if id(self) not in memo:
            memo[id(self)] = self.clone()
        return memo[id(self)]

    # -------------------- other memory --------------------

    def resize_(self, size: int) -> "UntypedStorage":
        """Another number of bytes. All tensors on the storage see its new memory; what is added is not initialised."""
        if not _is_plain_int(size):
            raise RuntimeError(f"resize_ expects an int, but got {errors.type_name(size)}")
        _check_nbytes(size)
        if not isinstance(self._root, np.ndarray):
            self._root.resize(size)
        elif not self.resizable():
            raise RuntimeError("Trying to resize storage that is not resizable")
        elif size > self._root.nbytes:
            self.grow(size)
        elif size != self.nbytes():
            self._count(size)
        return self

    def grow(self, nbytes: int, has_tenants: bool = True) -> None:
        """Move to larger memory. Without other tensors than the caller's on the storage no tensor has to be told."""
        memory = _zeros(nbytes)
        memory[: self.nbytes()] = self.bytes_view()
        self._move(memory, has_tenants)

    def _count(self, nbytes: int) -> None:
        """Count only so many of the bytes. The memory stays for the tensors that look at the rest of it."""
        if type(self._root.base) is not Block:
            self._move(np.asarray(Block(memory_of(self._root), self._root.nbytes)))
        self._root.base.counted = nbytes

    def take_over(self, root: Any) -> None:
        """Be the storage of other memory; for a storage on which no tensor looks at the old one any more."""
        self._move(root, has_tenants=False)

    def _move(self, root: np.ndarray, has_tenants: bool = True) -> None:
        old = self._root
        self._root = root
        del _storages[id(old)]
        _storages[id(root)] = self
        for follow in followers if has_tenants else ():
            follow(old, self)

    def is_shared(self) -> bool:
        mapping = mapping_of(self._root)
        return mapping is not None and mapping.is_shared

    def share_memory_(self, has_tenants: bool = True) -> "UntypedStorage":
        """Move to memory that other processes can see. All tensors on the storage see it, too.

        Without other tensors than the caller's on the storage, nothing else has to be told, as in `grow`.
        """
        if not isinstance(self._root, np.ndarray):
            raise RuntimeError("_share_fd_: only available on CPU")
        if not self.is_shared():
            memory = shared_root(self._root.nbytes)
            memory[:] = memory_of(self._root).reshape(-1).view(np.uint8)
            self._move(memory, has_tenants)
        return self

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> "UntypedStorage":
        """The first bytes of a file; if shared, what is written goes to the file."""
        return _storage_on(root_of_file(filename, shared, nbytes))

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *, dtype: Any = None
    ) -> "UntypedStorage":
        """A copy of the numbers of a dtype in a Python buffer, in this machine's byte order."""
        if dtype is None:
            raise RuntimeError("argument 'dtype' cannot be None")
        part = _part_of_buffer(buffer, byte_order, count, offset, dtype)
        storage = storage_from_bytes(part)
        if byte_order not in ("native", sys.byteorder):
            storage.byteswap(dtype)
        return storage


# -------------------- arguments --------------------


def _numbered(type: str, device: Any) -> Any:
    if isinstance(device, int):
        return f"{type}:{device}"
    return type if device is None else device


def _is_plain_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_nbytes(nbytes: int) -> None:
    if nbytes > geometry.MOST:
        raise errors.unpacking_overflow()
    if nbytes < 0:
        raise RuntimeError(f"Storage size cannot be negative, but got {nbytes} bytes")


def _checked(index: slice) -> slice:
    if index.step not in (None, 1):
        raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
    return index


def _bytes_for(content: Any) -> int | np.ndarray:
    """The number of bytes that a storage is to have, or their values."""
    if _is_plain_int(content):
        _check_nbytes(content)
        return content
    if not isinstance(content, (Sequence, bytes, bytearray)):
        found = errors.type_name(content)
        raise RuntimeError(f"torch.UntypedStorage(): Expected a sequence type, but got {found}")
    for item in content:
        if not isinstance(item, (int, np.integer)):
            raise RuntimeError(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence ({errors.type_name(content)}), "
                f"but one of the items was of type {errors.type_name(item)} instead of int"
            )
    return np.array([item & 0xFF for item in content], np.uint8)


def _root_on(device: Device, content: int | np.ndarray) -> Any:
    if device.type == "cpu":
        return _zeros(content) if isinstance(content, int) else content
    make = maker_of(device.type)
    if make is None:
        raise errors.device_unavailable(device.type)
    if isinstance(content, int):
        return make(content, device)
    root = make(content.nbytes, device)
    root.copy_from(HostRoot(content))
    return root


def _zeros(nbytes: int) -> np.ndarray:
    try:
        return np.zeros(nbytes, np.uint8)
    except aligned.NO_ROOM:
        raise errors.no_memory(nbytes) from None


def _no_such_call(given: Sequence[Any]) -> TypeError:
    got = ", ".join([errors.type_name(value) for value in given])
    return TypeError(
        f"torch.UntypedStorage() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (*, int allocator = None, torch.device device = None)\n"
        " * (int size, *, int allocator = None, torch.device device = None)\n"
        " * (object sequence, *, int allocator = None, torch.device device = None)\n"
    )


def _part_of_buffer(buffer: Any, byte_order: str | None, count: int, offset: int, dtype: Dtype) -> memoryview:
    """The bytes of `count` elements of a buffer behind `offset`, or of all that there are."""
    if byte_order is None and dtype.itemsize > 1:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "big", "little", "native"):
        raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
    view = memoryview(buffer).cast("B")
    if not 0 <= offset <= len(view):
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({offset}) , but got {len(view)}"
        )
    available = len(view) - offset
    if count < 0 and available % dtype.itemsize:
        raise ValueError(f"buffer size ({available}) must be a multiple of element size ({dtype.itemsize})")
    nbytes = available if count < 0 else count * dtype.itemsize
    if nbytes > available:
        raise ValueError(f"buffer has only {available} elements after offset {offset}, but specified a size of {count}")
    return view[offset : offset + nbytes]


# -------------------- the storage of an array --------------------

# The storages that are referred to, by the id of their root: asking twice gives the same object.
_storages: WeakValueDictionary[int, UntypedStorage] = WeakValueDictionary()


def storage_of(array: Any) -> UntypedStorage:
    """The storage that an array looks at."""
    return _storage_on(root_of(array))


def _storage_on(root: Any) -> UntypedStorage:
    storage = _storages.get(id(root))
    if storage is None:
        storage = UntypedStorage.__new__(UntypedStorage)
        storage._root = root
        _storages[id(root)] = storage
    return storage


def storage_from_bytes(content: bytes | memoryview, device: str = "cpu") -> UntypedStorage:
    """A storage with the given content; what pickles of storages call."""
    storage = UntypedStorage(len(content), device=device)
    storage.memory.copy_from(HostRoot(np.frombuffer(content, np.uint8)))
    return storage


def array_on(storage: UntypedStorage, element_type: Dtype, offset: int, shape: tuple, strides: tuple) -> Any:
    """An array that looks at a storage; offset and strides count elements."""
    itemsize = element_type.itemsize
    in_bytes = tuple([stride * itemsize for stride in strides])
    try:
        return storage.memory.array(shape, element_type.numpy, in_bytes, offset * itemsize)
    except ValueError:
        geometry.check_countable(shape, strides, itemsize)
        raise
