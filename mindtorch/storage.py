"""The classes of storages, under the name of the module that PyTorch has them in."""

from mindtorch._core.storage import UntypedStorage as UntypedStorage
from mindtorch._core.storage import storage_from_bytes as storage_from_bytes  # older pickles look for it here
from mindtorch._core.typed_storage import TypedStorage as TypedStorage
