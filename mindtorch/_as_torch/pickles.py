"""Plain pickles of storages as PyTorch makes them: what `save` writes for one, in the older format of its files."""

from __future__ import annotations

import copyreg
import io
from typing import Any

from mindtorch._core.typed_storage import TypedStorage
from mindtorch.serialization import save
from mindtorch.storage import _load_from_bytes


def pickle_as_torch() -> None:
    copyreg.pickle(TypedStorage, _reduce)


def _reduce(storage: TypedStorage) -> tuple[Any, tuple[bytes]]:
    file = io.BytesIO()
    save(storage, file, _use_new_zipfile_serialization=False)
    return _load_from_bytes, (file.getvalue(),)
