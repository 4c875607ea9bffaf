"""The format before the zip archives: five pickles in a row, and the bytes of the storages behind them."""

import io
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from mindtorch._core.dtype import dtype
from mindtorch._core.storage import UntypedStorage, storage_of
from mindtorch._core.typed_storage import ByteStorage, TypedStorage
from mindtorch.serialization.locations import Restore, typed
from mindtorch.serialization.names import StorageType
from mindtorch.serialization.pickler import pickler
from mindtorch.serialization.settings import skips_data
from mindtorch.serialization.unpickler import Error, SafeUnpickler, Survey, as_text
from mindtorch.serialization.zip_reader import fill
from mindtorch.serialization.zip_writer import write_all

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
SIZES = {"short": struct.calcsize("=h"), "int": struct.calcsize("=i"), "long": struct.calcsize("=l")}

_COUNT = struct.Struct("<q")
MakeUnpickler = Callable[[BinaryIO, Callable[[Any], Any]], Any]


# -------------------- writing --------------------


def packed(obj: Any, pickle_module: Any, protocol: int) -> Callable[[Any, str], None]:
    """The object pickled, and what writes it to a file."""
    system = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little", "type_sizes": SIZES}
    buffer = io.BytesIO()
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle.dump(part, buffer, protocol)
    pickled = pickler(buffer, pickle_module, protocol, ByteStorage, more=(None,))
    pickled.dump(obj)
    storages = sorted(pickled.storages.items(), key=lambda item: item[0])
    pickle.dump([key for key, _, _ in storages], buffer, protocol)
    content = [(storage.cpu(), element_type.itemsize) for _, storage, element_type in storages]

    def write(file: Any, root: str) -> None:
        write_all(file, buffer.getvalue())
        for storage, itemsize in content:
            write_all(file, _COUNT.pack(storage.nbytes() // itemsize))
            write_all(file, storage.bytes_view())

    return write


# -------------------- reading --------------------


def load(file: BinaryIO, make_unpickler: MakeUnpickler, restore: Restore, encoding: str) -> Any:
    """The object of a file. Its pickle is read twice: storages come behind it, and have to be there before it."""
    _check_head(file)
    start = file.tell()
    found = _Surveyed(file, encoding)
    unpickler = make_unpickler(_reopened(file, start), _Storages(found, restore).persistent_load)
    result = unpickler.load()
    file.seek(found.end)
    return result


def _check_head(file: BinaryIO) -> None:
    if _constant(file) != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = _constant(file)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    _constant(file)


def _constant(file: BinaryIO) -> Any:
    """What a pickle without objects of any class holds."""
    return SafeUnpickler(file, no_storage).load()


def no_storage(identity: Any) -> Any:
    raise Error("unsupported persistent id encountered")


def _reopened(file: BinaryIO, place: int) -> BinaryIO:
    file.seek(place)
    return file


class _Surveyed:
    """The storages of a file as its pickle declares them, and their bytes from behind it."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file = file
        self.declared: dict[str, tuple[dtype, int]] = {}
        Survey(file, self._declare, encoding).load()
        keys = _constant(file)
        if not isinstance(keys, list) or not all(isinstance(key, (str, int)) for key in keys):
            raise Error("the list of the storages is none")
        self.content = {key: self._read(key) for key in keys}
        self.end = file.tell()

    def _declare(self, identity: Any) -> Any:
        if isinstance(identity, tuple) and identity and as_text(identity[0]) == "module":
            return identity[1]
        kind, key, _, count, _ = _parts(identity)
        self.declared.setdefault(key, (kind.dtype, count))
        return None

    def _read(self, key: Any) -> np.ndarray:
        if key not in self.declared:
            raise RuntimeError(f"storage key {key!r} not found in deserialized_objects")
        element_type, count = self.declared[key]
        return read_storage(self._file, element_type, count)


def read_storage(file: BinaryIO, element_type: dtype, expected: int | None = None) -> np.ndarray:
    """A storage that is written as the number of its elements and their bytes."""
    head = file.read(_COUNT.size)
    if len(head) != _COUNT.size:
        raise _ended(_COUNT.size - len(head))
    (count,) = _COUNT.unpack(head)
    if expected is not None and count != expected:
        raise RuntimeError(f"storage has wrong byte size: expected {expected * element_type.itemsize} got {count}")
    nbytes, rest = count * element_type.itemsize, _rest_of(file)
    if not 0 <= nbytes <= rest:
        raise _ended(nbytes - rest)
    content = np.zeros(nbytes, np.uint8)
    if not skips_data():
        fill(file, content.data)
    else:
        file.seek(nbytes, os.SEEK_CUR)
    return swapped(content, element_type, sys.byteorder == "big")


def _rest_of(file: BinaryIO) -> int:
    place = file.tell()
    rest = file.seek(0, os.SEEK_END) - place
    file.seek(place)
    return rest


def _ended(missing: int) -> RuntimeError:
    return RuntimeError(f"unexpected EOF, expected {missing} more bytes. The file might be corrupted.")


def swapped(content: np.ndarray, element_type: dtype, is_other_order: bool) -> np.ndarray:
    """Bytes of numbers in this machine's order."""
    if is_other_order and len(content) % element_type.itemsize == 0:
        storage_of(content).byteswap(element_type)
    return content


def _parts(identity: Any) -> tuple:
    """Kind, key, location, number of elements and view of a storage."""
    if not isinstance(identity, tuple) or len(identity) != 6:
        raise Error(f"a storage is described by {type(identity).__name__} {identity!r}")
    name, kind, key, location, count, view = identity
    if as_text(name) != "storage":
        raise RuntimeError(f"Unknown saved id type: {name}")
    if not isinstance(kind, StorageType) or type(count) is not int or count < 0:
        raise Error(f"a storage of {count!r} elements of {kind!r} cannot be")
    return kind, key, as_text(location), count, view


class _Storages:
    """Gives the unpickler the storages."""

    def __init__(self, found: _Surveyed, restore: Restore) -> None:
        self._found = found
        self._restore = restore
        self._restored: dict[Any, Any] = {}

    def persistent_load(self, identity: Any) -> Any:
        if isinstance(identity, tuple) and identity and as_text(identity[0]) == "module":
            return identity[1]
        kind, key, location, _, view = _parts(identity)
        whole = self._whole(key, location)
        return typed(whole, kind.dtype) if view is None else self._part(whole, kind.dtype, view)

    def _whole(self, key: Any, location: str) -> Any:
        if key not in self._restored:
            if key not in self._found.content:
                raise RuntimeError(f"storage key {key!r} has no data in the file")
            self._restored[key] = self._restore(storage_of(self._found.content[key]), location)
        return self._restored[key]

    def _part(self, whole: Any, element_type: dtype, view: tuple) -> TypedStorage:
        key, *numbers = view
        if key not in self._restored:
            self._restored[key] = part_of(typed(whole, element_type), element_type, *numbers)
        return typed(self._restored[key], element_type)


def part_of(whole: TypedStorage, element_type: dtype, offset: int, count: int) -> UntypedStorage:
    """Some elements of a storage as one of their own: the oldest files have such."""
    first, last = offset * element_type.itemsize, (offset + count) * element_type.itemsize
    if not 0 <= first <= last <= whole.nbytes():
        raise RuntimeError("a view of a storage reaches out of it; the file might be corrupted")
    return whole.untyped()[first:last]
