"""The first format of all: a tar archive of storages, tensors and a pickle. It is read, and no longer written."""

import struct
from collections.abc import Callable
from typing import Any, BinaryIO

from mindtorch._core.storage import storage_of
from mindtorch._core.tensor import wrap
from mindtorch._support.lazy import lazy
from mindtorch._tensor_methods.memory import array_within
from mindtorch.serialization.legacy import part_of, read_storage
from mindtorch.serialization.locations import Restore, typed

tarfile: Any = lazy("tarfile")

LoadPickle = Callable[..., Any]  # of a file, and of what gives the objects that a pickle has by number


def is_tar(file: BinaryIO) -> bool:
    """Whether a file is such an archive; it is put back to its beginning."""
    try:
        tarfile.open(fileobj=file, mode="r:").close()
    except tarfile.TarError:
        return False
    finally:
        file.seek(0)
    return True


def load(file: BinaryIO, load_pickle: LoadPickle, restore: Restore) -> Any:
    """The object of an archive."""
    with tarfile.open(fileobj=file, mode="r:", format=tarfile.PAX_FORMAT) as archive:
        objects = _storages(_member(archive, "storages"), load_pickle, restore)
        objects.update(_tensors(_member(archive, "tensors"), load_pickle, objects))
        return load_pickle(_member(archive, "pickle"), lambda identity: _object(objects, identity))


def _member(archive: Any, name: str) -> Any:
    try:
        member = archive.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise RuntimeError(f"the archive has no file {name}; it might be corrupted")
    return member


def _object(objects: dict, identity: Any) -> Any:
    return identity[0] if isinstance(identity, tuple) else objects[int(identity)]


def _storages(file: Any, load_pickle: LoadPickle, restore: Restore) -> dict:
    found: dict[Any, Any] = {}
    for _ in range(load_pickle(file)):
        key, location, kind = load_pickle(file)
        storage = storage_of(read_storage(file, kind.dtype))
        found[key] = typed(restore(storage, location), kind.dtype)
    for key, whole, offset, count in load_pickle(file):
        element_type = found[whole].dtype
        found[key] = typed(part_of(found[whole], element_type, offset, count), element_type)
    return found


def _tensors(file: Any, load_pickle: LoadPickle, storages: dict) -> dict:
    found = {}
    for _ in range(load_pickle(file)):
        key, storage_key, _ = load_pickle(file)
        storage = storages[storage_key]
        ndim, _ = _numbers(file, "<2i")
        size, stride = _numbers(file, f"<{ndim}q"), _numbers(file, f"<{ndim}q")
        (offset,) = _numbers(file, "<q")
        found[key] = wrap(array_within(storage.untyped(), storage.dtype, offset, size, stride))
    return found


def _numbers(file: Any, format: str) -> tuple[int, ...]:
    content = file.read(struct.calcsize(format))
    if len(content) != struct.calcsize(format):
        raise RuntimeError("unexpected EOF. The file might be corrupted.")
    return struct.unpack(format, content)
