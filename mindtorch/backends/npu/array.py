"""`NpuRoot`, memory of an NPU from the caching allocator, and `NpuArray`, which looks at it."""

from typing import Any

import numpy as np

from mindtorch._core.buffers import Root
from mindtorch._core.device import as_device
from mindtorch._core.device import device as Device
from mindtorch._core.layout import strided
from mindtorch.backends.device_array import DeviceArray, DeviceFlags, byte_strides, extent_in_bytes
from mindtorch.backends.npu.runtime import allocator, copies, device, stream
from mindtorch.backends.npu.runtime.allocator import Block
from mindtorch.dispatch.registry import kernel_table

_devices: dict[int, Device] = {}


def numbered(index: int) -> Device:
    """`npu:index`, one object for each."""
    found = _devices.get(index)
    return found if found is not None else _devices.setdefault(index, Device("npu", index))


class Geometry:
    """How an array lies in memory of its own. Arrays that lie alike have one object, which serves as a key for them."""

    __slots__ = ("shape", "strides", "dtype", "nbytes", "flags", "described")

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype, nbytes: int) -> None:
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.nbytes = nbytes  # of the memory, of which the array may be a part
        self.flags = DeviceFlags(shape, strides, dtype.itemsize)
        self.described: tuple | None = None  # in the types that descriptors are made of


_new_object = object.__new__
_MANY = 8192
_geometries: dict[tuple, Geometry] = {}


def geometry_of(array: DeviceArray) -> Geometry:
    """That of an array, or of what a rule of the meta backend says of one."""
    key = array.shape, array.strides, array.dtype, array.root.nbytes
    found = _geometries.get(key)
    if found is None:
        if len(_geometries) >= _MANY:
            _geometries.clear()
        found = _geometries.setdefault(key, Geometry(*key))
    return found


def remembered_geometry(array: "NpuArray") -> Geometry:
    """That of an array, which has it from now on."""
    array.geometry = found = geometry_of(array)
    return found


_rows: dict[tuple, Geometry] = {}


def _in_rows(shape: tuple[int, ...], dtype: np.dtype) -> Geometry:
    """That of a row-major array with memory of its own."""
    if len(_rows) >= _MANY:
        _rows.clear()
    shape, strides = tuple(shape), byte_strides(shape, dtype.itemsize)
    key = shape, strides, dtype, extent_in_bytes(shape, strides, dtype.itemsize)
    _rows[shape, dtype] = found = _geometries.setdefault(key, Geometry(*key))
    return found


class NpuRoot(Root):
    """Some bytes on a device. Given back to the allocator when the last array on them is gone."""

    __slots__ = ("index", "block", "address", "resizes")

    def __init__(self, nbytes: int, index: int) -> None:
        """Not initialised; in the order of the device's current stream."""
        self.nbytes = nbytes
        self.index = index
        self.resizes = 0  # a descriptor is of one of the memories that the root has had
        self.block: Block | None = None  # before memory is asked for, which may fail
        self.address = 0
        if nbytes:
            self.block = block = allocator.pool_of(index).allocate(nbytes, stream.current(index))
            self.address = block.address

    def _take(self, block: Block | None) -> None:
        self.block = block
        self.address = 0 if block is None else block.address

    @property
    def device(self) -> Device:  # type: ignore[override]  # it is not assigned
        return numbered(self.index)

    def resize(self, nbytes: int) -> None:
        before, kept = self.block, min(nbytes, self.nbytes)
        block = allocator.pool_of(self.index).allocate(nbytes, stream.current(self.index)) if nbytes else None
        try:
            if kept and block is not None:
                copies.within(self.index, block.address, self.address, kept)
        except RuntimeError:  # then everything stays as it was
            if block is not None:
                block.pool.release(block)
            raise
        self._take(block)
        if before is not None:
            before.pool.release(before)
        self.nbytes = nbytes
        self.resizes += 1

    def fill(self, byte: int) -> None:
        copies.fill(self.index, self.address, self.nbytes, byte)

    def copy_from(self, source: Any) -> None:
        if not isinstance(source, NpuRoot):
            self.write(0, source.to_host())
        elif source.index == self.index:
            copies.within(self.index, self.address, source.address, self.nbytes)
        else:
            copies.between(self.index, self.address, source.index, source.address, self.nbytes)

    def to_host(self, start: int = 0, nbytes: int | None = None) -> np.ndarray:
        content = np.empty(self.nbytes - start if nbytes is None else nbytes, np.uint8)
        copies.to_host(self.index, self.address + start, content)
        return content

    def write(self, start: int, content: np.ndarray) -> None:
        copies.to_device(self.index, self.address + start, content)

    def record_stream(self, user: Any) -> None:
        """Note that a stream besides the memory's own works with it."""
        self.used_on(user._order)

    def used_on(self, order: stream.Stream) -> None:
        """The same, by a stream of the runtime."""
        block = self.block
        if block is not None and order is not block.stream:
            block.others = (block.others or set()) | {order}

    def array(
        self, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], byte_offset: int = 0
    ) -> "NpuArray":
        return NpuArray(shape, dtype, strides, self, byte_offset)

    def __del__(self) -> None:
        block = self.block
        if block is not None:
            block.pool.released.append(block)  # as `release` does


class NpuArray(DeviceArray):
    """An array on an NPU. Its views launch nothing."""

    __slots__ = ("geometry", "descriptor")

    layout = strided

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], root: NpuRoot, byte_offset: int = 0
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.root = root
        self.byte_offset = byte_offset
        self.geometry: Geometry | None = None  # this and the next when they are first asked for
        self.descriptor: Any = None

    @property
    def flags(self) -> DeviceFlags:
        return (self.geometry or remembered_geometry(self)).flags

    @classmethod
    def new_root(cls, nbytes: int, where: Device) -> NpuRoot:
        """Memory of so many bytes, on the device."""
        return NpuRoot(nbytes, index_of(where))

    def copy_from(self, source: Any) -> None:
        """Write the elements of another array, which is broadcast and converted."""
        kernel_table("copy_")[NpuArray](self, source, False)


def index_of(where: Any) -> int:
    """The number of a device, in whichever spelling; that of the thread's device, if it has none."""
    where = as_device(where)
    return device.current() if where.index is None else device.checked(where.index)


def new(shape: tuple[int, ...], dtype: np.dtype, index: int, strides: tuple[int, ...] | None = None) -> NpuArray:
    """An array that is not initialised; row-major unless there are strides, which count bytes."""
    if strides is None:
        return made(_rows.get((shape, dtype)) or _in_rows(shape, dtype), index)
    return NpuArray(shape, dtype, strides, NpuRoot(extent_in_bytes(shape, strides, dtype.itemsize), index), 0)


def made(geometry: Geometry, index: int) -> NpuArray:
    """An array of this geometry that is not initialised, on a device: what each kernel's result is."""
    nbytes = geometry.nbytes
    if not nbytes:
        return NpuArray(geometry.shape, geometry.dtype, geometry.strides, NpuRoot(0, index))
    block = allocator.pool_of(index).allocate(nbytes, stream.current(index))
    root = _new_object(NpuRoot)  # as NpuRoot.__init__ fills it
    root.index = index
    root.nbytes = nbytes
    root.resizes = 0
    root.block = block
    root.address = block.address
    array = _new_object(NpuArray)
    array.shape = geometry.shape
    array.dtype = geometry.dtype
    array.strides = geometry.strides
    array.root = root
    array.byte_offset = 0
    array.geometry = geometry
    array.descriptor = block.descriptors.get(geometry)
    return array
