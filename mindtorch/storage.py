"""The classes of storages, under the name of the module that PyTorch has them in."""

import io
from typing import Any

from mindtorch._core.storage import UntypedStorage as UntypedStorage
from mindtorch._core.storage import storage_from_bytes as storage_from_bytes  # older pickles look for it here
from mindtorch._core.typed_storage import TypedStorage as TypedStorage
from mindtorch._support.lazy import lazy

_serialization: Any = lazy("mindtorch.serialization")


def _load_from_bytes(b: bytes) -> Any:
    """What PyTorch's pickles of storages call: the storage in the bytes of a file that `save` has written."""
    return _serialization.load(io.BytesIO(b), weights_only=False)
