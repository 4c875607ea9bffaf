"""The buffer at the bottom of an array, which is what a storage is made of, and where an array lies in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.device import CPU, accelerator
from mindtorch._core.device import device as Device
from mindtorch._support import errors


class Root:
    """The memory of a device that a storage is made of: what its arrays, and the views of these, have in common.

    The memory may be exchanged for other memory behind the back of the arrays, which only know the root.
    """

    __slots__ = ("nbytes", "__weakref__")

    nbytes: int
    device: Device
    address: int

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes

    def resize(self, nbytes: int) -> None:
        """Another number of bytes. As many as before stay what they are; new ones are not initialised."""
        raise NotImplementedError

    def fill(self, byte: int) -> None:
        raise NotImplementedError

    def copy_from(self, source: Any) -> None:
        """Take over the bytes of another root, of any device, that has as many."""
        raise NotImplementedError

    def to_host(self, start: int = 0, nbytes: int | None = None) -> np.ndarray:
        """Some of the bytes, all from `start` on if it is not said how many, in memory of the CPU."""
        raise NotImplementedError

    def write(self, start: int, content: np.ndarray) -> None:
        """Copy bytes from the CPU to the place where they belong."""
        raise NotImplementedError

    def array(self, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], byte_offset: int = 0) -> Any:
        """An array of the device that looks at the memory; `strides` and `byte_offset` count bytes."""
        raise NotImplementedError


class HostRoot:
    """The same for an array of NumPy that owns its memory."""

    __slots__ = ("owner",)

    device: Device = CPU

    def __init__(self, owner: np.ndarray) -> None:
        self.owner = owner

    @property
    def nbytes(self) -> int:
        return size_of_root(self.owner)

    @property
    def address(self) -> int:
        return address_of(self.owner)

    def fill(self, byte: int) -> None:
        self.to_host()[:] = byte

    def copy_from(self, source: Any) -> None:
        self.to_host()[:] = source.to_host()

    def to_host(self, start: int = 0, nbytes: int | None = None) -> np.ndarray:
        """The memory itself."""
        end = self.nbytes if nbytes is None else start + nbytes
        return memory_of(self.owner).reshape(-1).view(np.uint8)[start:end]

    def array(
        self, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], byte_offset: int = 0
    ) -> np.ndarray:
        return np.ndarray(shape, dtype, self.to_host(), byte_offset, strides)


def as_root(root: Any) -> Any:
    """What can be done with the buffer at the bottom of an array."""
    return HostRoot(root) if isinstance(root, np.ndarray) else root


# How to get memory of so many bytes on a device, by its type: what backends register with their arrays.
makers: dict[str, Callable[[int, Device], Root]] = {}
# What registers the backend of a device when it is first asked for; without its libraries it does nothing.
on_demand: dict[str, Callable[[], None]] = {}


def maker_of(device_type: str) -> Callable[[int, Device], Root] | None:
    """What makes memory on devices of a type, if there are such."""
    if device_type not in makers and device_type in on_demand:
        on_demand[device_type]()
    return makers.get(device_type)


class Pinner(NamedTuple):
    """Memory of the CPU that devices of a type read and write by themselves: how to get some, and what is in it."""

    allocate: Callable[[int], np.ndarray]
    holds: Callable[[np.ndarray], bool]


pinners: dict[str, Pinner] = {}  # by the type of device: what backends register


def is_pinned(array: Any) -> bool:
    """Whether an array lies in pinned memory."""
    return isinstance(array, np.ndarray) and any([pinner.holds(array) for pinner in pinners.values()])


def pinned_like(array: np.ndarray) -> np.ndarray:
    """An array of the same shape, strides and dtype in pinned memory of the accelerator, not initialised."""
    kind = accelerator()
    if kind is None:
        raise errors.no_accelerator()
    nbytes = geometry.extent_of(array.shape, array.strides) + array.itemsize - 1 if array.size else 0
    return np.ndarray(array.shape, array.dtype, pinners[kind].allocate(nbytes), 0, array.strides)


def pinned_copy(array: np.ndarray) -> np.ndarray:
    """The same for the contents, which are copied."""
    target = pinned_like(array)
    np.copyto(target, array)
    return target


class Block:
    """The memory from the first element of an array on, for the array interface, which keeps the array alive.

    It has no `base`, so that to `root_of` an array over it is the owner of its memory. A storage that was made smaller
    has a block of which it counts only the first bytes: the others stay, because tensors may still look at them.
    """

    def __init__(self, array: np.ndarray, nbytes: int) -> None:
        self.array = array
        self.counted = nbytes
        address, is_read_only = array.__array_interface__["data"]
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (nbytes,),
            "data": (address, is_read_only),
        }


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


def size_of_root(root: Any) -> int:
    """How many bytes a storage counts as its own."""
    block = getattr(root, "base", None)
    return block.counted if type(block) is Block else root.nbytes


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
    if array.size and array.nbytes == root.nbytes and array.flags.c_contiguous and root.flags.c_contiguous:
        return 0  # all of it; to ask for an address takes ten times as long
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return offset if 0 <= offset <= root.nbytes else 0  # an array without elements may point anywhere


def bytes_of(array: np.ndarray) -> np.ndarray:
    """The memory from the first element of an array to its last, as a root of its own."""
    if array.size == 0:
        return np.empty(0, np.uint8)
    last = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    return np.asarray(Block(array, last + array.itemsize))


def with_own_storage(array: np.ndarray) -> np.ndarray:
    """The same elements for a tensor whose storage begins with them, whatever they are a part of.

    Never the array itself: its owner may give that another shape.
    """
    if array.base is None or not array.size:
        return array.view(np.ndarray)
    return np.ndarray(array.shape, array.dtype, bytes_of(array), 0, array.strides)


def memory_of(root: np.ndarray) -> np.ndarray:
    """A C-contiguous array over the memory of a root, which NumPy may have laid out with permuted dimensions."""
    if root.flags.c_contiguous:
        return root
    ordered = root.transpose(geometry.memory_order(root.shape, root.strides)[::-1])
    return ordered if ordered.flags.c_contiguous else bytes_of(root)
