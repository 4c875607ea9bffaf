"""The zip archives of `save`, record by record, for programs that read parts of them."""

import os
import zipfile
from typing import Any

from mindtorch.dtype import dtype as Dtype
from mindtorch.dtype import uint8
from mindtorch.storage import array_on, storage_from_bytes
from mindtorch.tensor import Tensor, wrap


class PyTorchFileReader:
    """Reads the records of one archive: `data.pkl`, and `data/<key>` for each storage."""

    def __init__(self, name: Any) -> None:
        try:
            self._archive = zipfile.ZipFile(name)
        except OSError as error:
            raise RuntimeError(
                f"open file failed because of errno {error.errno} on fopen: {os.strerror(error.errno or 0)}, "
                f"file path: {name}"
            ) from None
        self._root = self._archive.namelist()[0].split("/")[0]

    def get_all_records(self) -> list[str]:
        return [name.removeprefix(f"{self._root}/") for name in self._archive.namelist()]

    def has_record(self, name: str) -> bool:
        return name in self.get_all_records()

    def get_record(self, name: str) -> bytes:
        if not self.has_record(name):
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return self._archive.read(f"{self._root}/{name}")

    def get_record_size(self, name: str) -> int:
        return self._archive.getinfo(f"{self._root}/{name}").file_size

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Tensor:
        """A tensor without elements, whose storage has those of the record."""
        element_type = dtype if isinstance(dtype, Dtype) else uint8
        content, expected = self.get_record(name), numel * element_type.itemsize
        if len(content) != expected:
            raise RuntimeError(
                f"record size ({len(content)} bytes) does not match expected size ({expected} bytes = {numel} elements "
                f"* {element_type.itemsize} bytes/element) for dtype {element_type.storage_name}"
            )
        return wrap(array_on(storage_from_bytes(content), element_type, 0, (0,), (1,)))
