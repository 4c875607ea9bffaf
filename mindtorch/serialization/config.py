"""What `save` and `load` do when they are not told: `config.load.mmap = True`."""

import mmap as _mmap
from typing import Any


class load:
    """Defaults of `load`."""

    mmap: bool = False
    endianness: Any = None  # a LoadEndianness; None means little-endian
    mmap_flags: int | None = getattr(_mmap, "MAP_PRIVATE", None)
    calculate_storage_offsets: bool = False  # accepted: the directory of a file is read in any case


class save:
    """Defaults of `save`."""

    compute_crc32: bool = True
    use_pinned_memory_for_d2h: bool = False  # accepted: there is no such memory here
    storage_alignment: int = 64
