"""Writes zip archives as PyTorch does: nothing compressed, every record at a multiple of 64 bytes, front to back."""

import struct
import zlib
from typing import Any

from mindtorch.serialization.zip_format import END, END_64, ENTRY, FULL, HEADER, LOCATOR, UTF_8

_FIRST_DAY = 0x21
_MOST_ENTRIES = 0xFFFF
_VERSION, _VERSION_64 = 20, 45
_PADDING = b"FB"  # the extra field that fills up to the next multiple


class ZipWriter:
    """An archive that is written to a file, or to anything that has `write`."""

    def __init__(self, file: Any, root: str, alignment: int, has_checksums: bool) -> None:
        self._file = file
        self._root = root
        self._alignment = alignment
        self._has_checksums = has_checksums
        self._place = 0
        self._directory: list[bytes] = []

    def _write(self, content: Any) -> None:
        write_all(self._file, content)
        self._place += len(content)

    def record(self, name: str, content: Any) -> None:
        """Add a record; `content` is bytes or an array of bytes."""
        encoded = f"{self._root}/{name}".encode()
        size, place = len(content), self._place
        checksum = zlib.crc32(content) if self._has_checksums else 0
        large = struct.pack("<2H2Q", 1, 16, size, size) if size >= FULL else b""
        extra = large + self._padding(place + HEADER.size + len(encoded) + len(large))
        shown = FULL if large else size
        version = _VERSION_64 if large else _VERSION
        common = (UTF_8, 0, 0, _FIRST_DAY, checksum, shown, shown, len(encoded))
        self._write(HEADER.pack(b"PK\x03\x04", version, *common, len(extra)) + encoded + extra)
        self._write(content)
        self._directory.append(_entry(common, encoded, size, place))

    def _padding(self, place: int) -> bytes:
        needed = -(place + 4) % self._alignment
        return struct.pack("<2sH", _PADDING, needed) + b"Z" * needed

    def close(self) -> None:
        """Add the directory."""
        start = self._place
        for entry in self._directory:
            self._write(entry)
        size, count = self._place - start, len(self._directory)
        if start >= FULL or size >= FULL or count >= _MOST_ENTRIES:
            version = _VERSION_64
            end = (b"PK\x06\x06", END_64.size - 12, version, version, 0, 0, count, count, size, start)
            locator = LOCATOR.pack(b"PK\x06\x07", 0, self._place, 1)
            self._write(END_64.pack(*end) + locator)
        count, size, start = min(count, _MOST_ENTRIES), min(size, FULL), min(start, FULL)
        self._write(END.pack(b"PK\x05\x06", 0, 0, count, count, size, start, 0))


def _entry(common: tuple, name: bytes, size: int, place: int) -> bytes:
    """The entry of a record in the directory."""
    numbers = [number for number in (size, size, place) if number >= FULL]
    extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
    version = _VERSION_64 if numbers else _VERSION
    places = (len(extra), 0, 0, 0, 0, min(place, FULL))
    return ENTRY.pack(b"PK\x01\x02", version, version, *common, *places) + name + extra


def write_all(file: Any, content: Any) -> None:
    """Write everything, to files, too, that take a part of it at a time."""
    rest = memoryview(content)
    while len(rest):
        written = file.write(rest)
        if not isinstance(written, int):
            return  # a program's own object, which does not count
        rest = rest[written:]
