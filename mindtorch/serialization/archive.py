"""The zip archives of `save`, record by record, for programs that read parts of them."""

import os
from typing import Any

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import uint8
from mindtorch._core.storage import array_on, storage_of
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.serialization.zip_reader import ZipReader


class PyTorchFileReader:
    """Reads the records of one archive: `data.pkl`, and `data/<key>` for each storage."""

    _opened: Any = None  # the file, if it was opened here

    def __init__(self, name: Any) -> None:
        try:
            if isinstance(name, (str, os.PathLike)):
                self._opened = open(name, "rb")
        except OSError as error:
            raise RuntimeError(
                f"open file failed because of errno {error.errno} on fopen: {os.strerror(error.errno or 0)}, "
                f"file path: {name}"
            ) from None
        self._archive = ZipReader(self._opened or name)

    def __del__(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def get_all_records(self) -> list[str]:
        return self._archive.names()

    def has_record(self, name: str) -> bool:
        return self._archive.has(name)

    def get_record(self, name: str) -> bytes:
        return self._archive.read(name).tobytes()

    def get_record_size(self, name: str) -> int:
        return self._archive.entry(name).size

    def get_record_offset(self, name: str) -> int:
        return self._archive.place_of(name)

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Tensor:
        """A tensor without elements, whose storage has those of the record."""
        element_type = dtype if isinstance(dtype, Dtype) else uint8
        check_size(self._archive.entry(name).size, numel, element_type)
        return wrap(array_on(storage_of(self._archive.read(name)), element_type, 0, (0,), (1,)))


def check_size(found: int, count: int, element_type: Dtype) -> None:
    """A record has to be as large as what refers to it says."""
    expected = count * element_type.itemsize
    if found != expected:
        raise RuntimeError(
            f"record size ({found} bytes) does not match expected size ({expected} bytes = {count} elements "
            f"* {element_type.itemsize} bytes/element) for dtype {element_type.storage_name}"
        )
