"""`save`: objects to files."""

import io
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from mindtorch._core.storage import UntypedStorage
from mindtorch.serialization import config, legacy, settings
from mindtorch.serialization.destination import archive_name, destination
from mindtorch.serialization.pickler import pickler
from mindtorch.serialization.versions import check_dill
from mindtorch.serialization.zip_writer import ZipWriter

DEFAULT_PROTOCOL = 2
FORMAT_VERSION = b"3\n"

Write = Callable[[Any, str], None]


def save(
    obj: Any,
    f: str | os.PathLike | BinaryIO,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a path or to an object with a method `write`.

    A file that is there already is replaced when the new one is complete; until then it stays as it is. Of
    `pickle_module` a pickler is used that is written in Python.
    """
    check_dill(pickle_module)
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if _use_new_zipfile_serialization:
        _write_zip(f, _zipped(obj, pickle_module, pickle_protocol, not _disable_byteorder_record))
    elif settings.skips_data():
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    else:
        _write_to(f, legacy.packed(obj, pickle_module, pickle_protocol))


def _write_zip(f: Any, write: Write) -> None:
    try:
        _write_to(f, write)
    except OSError as error:
        if not isinstance(f, (str, os.PathLike)):
            raise
        raise _zip_error(os.fspath(f), error) from error


def _write_to(f: Any, write: Write) -> None:
    """Everything that can be wrong with the object is known by now; what remains is the file."""
    if not isinstance(f, (str, os.PathLike)):
        if not callable(f.write):
            raise TypeError(f"Buffer of {str(type(f)).strip('<>')} has no callable attribute 'write'")
        write(f, "archive")
        if hasattr(f, "flush"):
            f.flush()
        return
    path = os.fspath(f)
    with destination(path) as file:
        write(file, archive_name(path))


def _zip_error(path: str, error: OSError) -> RuntimeError:
    """torch's error about a file that cannot be written."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        return RuntimeError(f"Parent directory {folder} does not exist.")
    reason = os.strerror(error.errno) if error.errno else str(error)
    if isinstance(error, (FileNotFoundError, IsADirectoryError, PermissionError)):
        return RuntimeError(f"open file failed with strerror: {reason}, file path: {path}")
    return RuntimeError(f"PytorchStreamWriter failed writing file {path}: {reason}")


def _zipped(obj: Any, pickle_module: Any, protocol: int, has_byte_order: bool) -> Write:
    """The object pickled, and what writes it to an archive."""
    buffer = io.BytesIO()
    pickled = pickler(buffer, pickle_module, protocol, UntypedStorage)
    pickled.dump(obj)
    storages = [(key, storage.cpu()) for key, storage, _ in pickled.storages.items()]

    def write(file: Any, root: str) -> None:
        archive = ZipWriter(file, root, config.save.storage_alignment, config.save.compute_crc32)
        archive.record("data.pkl", buffer.getvalue())
        if has_byte_order:
            archive.record("byteorder", sys.byteorder.encode())
        for key, storage in storages:
            archive.record(f"data/{key}", _content(storage))
        archive.record("version", FORMAT_VERSION)
        archive.close()

    return write


def _content(storage: UntypedStorage) -> np.ndarray:
    return np.zeros(storage.nbytes(), np.uint8) if settings.skips_data() else storage.bytes_view()
