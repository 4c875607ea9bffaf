"""`save` and `load`.

A file is a zip archive in PyTorch's format: `data.pkl` holds the objects, `data/<key>` the bytes of each storage, once,
however many tensors look at it. PyTorch and mindtorch read each other's files, those of older formats too. Loading is
safe by default: `weights_only=True` makes nothing but tensors, parameters, plain Python containers and what
`add_safe_globals` allows.
"""

from mindtorch.serialization.allowed import add_safe_globals as add_safe_globals
from mindtorch.serialization.allowed import clear_safe_globals as clear_safe_globals
from mindtorch.serialization.allowed import get_safe_globals as get_safe_globals
from mindtorch.serialization.allowed import safe_globals as safe_globals
from mindtorch.serialization.legacy import MAGIC_NUMBER as MAGIC_NUMBER
from mindtorch.serialization.legacy import PROTOCOL_VERSION as PROTOCOL_VERSION
from mindtorch.serialization.loading import UNSAFE_MESSAGE as UNSAFE_MESSAGE
from mindtorch.serialization.loading import get_unsafe_globals_in_checkpoint as get_unsafe_globals_in_checkpoint
from mindtorch.serialization.loading import load as load
from mindtorch.serialization.locations import MAP_LOCATION as MAP_LOCATION
from mindtorch.serialization.locations import default_restore_location as default_restore_location
from mindtorch.serialization.locations import location_tag as location_tag
from mindtorch.serialization.locations import register_package as register_package
from mindtorch.serialization.locations import validate_cuda_device as validate_cuda_device
from mindtorch.serialization.locations import validate_hpu_device as validate_hpu_device
from mindtorch.serialization.names import StorageType as StorageType
from mindtorch.serialization.names import layout_named as _get_layout  # noqa: F401
from mindtorch.serialization.saving import DEFAULT_PROTOCOL as DEFAULT_PROTOCOL
from mindtorch.serialization.saving import save as save
from mindtorch.serialization.settings import LoadEndianness as LoadEndianness
from mindtorch.serialization.settings import get_crc32_options as get_crc32_options
from mindtorch.serialization.settings import get_default_load_endianness as get_default_load_endianness
from mindtorch.serialization.settings import get_default_mmap_options as get_default_mmap_options
from mindtorch.serialization.settings import set_crc32_options as set_crc32_options
from mindtorch.serialization.settings import set_default_load_endianness as set_default_load_endianness
from mindtorch.serialization.settings import set_default_mmap_options as set_default_mmap_options
from mindtorch.serialization.settings import skip_data as skip_data
from mindtorch.serialization.versions import (
    check_module_version_greater_or_equal as check_module_version_greater_or_equal,
)


class SourceChangeWarning(Warning):
    """In torch, that the code of a class is not what it was when the file was written."""
