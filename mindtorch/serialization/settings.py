"""What programs may choose about files: byte order, checksums, mapping, leaving out the data."""

import mmap
from enum import Enum
from typing import Any

from mindtorch._core import state
from mindtorch.serialization import config

MAP_PRIVATE = getattr(mmap, "MAP_PRIVATE", None)
MAP_SHARED = getattr(mmap, "MAP_SHARED", None)


class LoadEndianness(Enum):
    """The byte order of files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files that do not say theirs; None means little-endian."""
    return config.load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Choose the byte order of files that do not say theirs."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    config.load.endianness = endianness


def get_crc32_options() -> bool:
    """Whether `save` writes a checksum of each record."""
    return config.save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Choose whether `save` writes a checksum of each record. Without them `load` cannot tell damaged data."""
    config.save.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """How `load(mmap=True)` maps files: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`."""
    return config.load.mmap_flags


class set_default_mmap_options:
    """Choose how `load(mmap=True)` maps files, for good or, in a `with` statement, for the time of the block."""

    def __init__(self, flags: int) -> None:
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, "
                f"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = config.load.mmap_flags
        config.load.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        config.load.mmap_flags = self.prev


class skip_data:
    """Within it, `save` leaves room for the data without writing it, and `load` makes tensors without reading it."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = skips_data()
        state.thread.skip_data = True

    def __exit__(self, *exception: Any) -> None:
        state.thread.skip_data = self._before


def skips_data() -> bool:
    """Whether this thread is within `skip_data`."""
    return state.thread.skip_data
