"""Reads zip archives record by record, and trusts no number in them."""

import io
import os
import struct
import zlib
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mindtorch.serialization.zip_format import END, END_64, ENTRY, FULL, HEADER, LOCATOR, UTF_8

_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 0x1
_LONGEST_END = END.size + 0xFFFF
_HINT = (
    "If you are seeing this error, there is a high likelihood that your checkpoint file is corrupted. This can happen "
    "if the checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving."
)


class Entry(NamedTuple):
    """What the directory says of a record."""

    name: str
    method: int
    flags: int
    checksum: int
    stored_size: int
    size: int
    header: int  # where it begins, from the start of the archive


def failed(what: str) -> RuntimeError:
    """torch's error about an archive."""
    return RuntimeError(f"PytorchStreamReader failed {what}. {_HINT}")


def _no_zip(reason: str) -> RuntimeError:
    return failed(f"reading zip archive: {reason}")


class ZipReader:
    """The records of an archive that begins where the file stands and ends where the file ends."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._start = file.tell()
        self._end = file.seek(0, os.SEEK_END) - self._start
        self._directory = self._end
        entries = self._entries()
        self.entries = {entry.name: entry for entry in entries}
        if len(self.entries) != len(entries):
            raise _no_zip("two records have one name")
        if not entries:
            raise _no_zip("it has no records")
        self.root = entries[0].name.partition("/")[0]

    def _read(self, place: int, count: int) -> bytes:
        if place < 0 or count < 0 or place + count > self._end:
            raise _no_zip("a record lies outside of the file")
        self._file.seek(self._start + place)
        content = self._file.read(count)
        if len(content) != count:
            raise _no_zip("the file ended early")
        return content

    # -------------------- the directory --------------------

    def _entries(self) -> list[Entry]:
        count, size, place = self._read_end()
        if place + size > self._directory:
            raise _no_zip("failed finding central directory")
        self._directory = place
        content = self._read(place, size)
        entries, at = [], 0
        for _ in range(count):
            entry, at = _entry_at(content, at)
            entries.append(entry)
        return entries

    def _read_end(self) -> tuple[int, int, int]:
        """The number of records, and size and place of the directory."""
        length = min(self._end, _LONGEST_END)
        tail = self._read(self._end - length, length)
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or len(tail) - at < END.size:
            raise _no_zip("failed finding central directory")
        place = self._end - length + at
        *_, count, size, directory, _ = END.unpack_from(tail, at)
        large = self._read_large_end(place - LOCATOR.size)
        self._directory = place
        return (count, size, directory) if large is None else large

    def _read_large_end(self, place: int) -> tuple[int, int, int] | None:
        """The same from the record that archives of more than 4 GB have before the last one."""
        if place < 0:
            return None
        signature, _, record, _ = LOCATOR.unpack(self._read(place, LOCATOR.size))
        if signature != b"PK\x06\x07":
            return None
        signature, *_, count, size, directory = END_64.unpack(self._read(record, END_64.size))
        if signature != b"PK\x06\x06":
            raise _no_zip("failed finding central directory")
        return count, size, directory

    # -------------------- records --------------------

    def names(self) -> list[str]:
        """The names of all records, without the folder that they are in."""
        return [name.removeprefix(f"{self.root}/") for name in self.entries]

    def has(self, name: str) -> bool:
        return f"{self.root}/{name}" in self.entries

    def entry(self, name: str) -> Entry:
        try:
            return self.entries[f"{self.root}/{name}"]
        except KeyError:
            raise failed(f"locating file {name}: file not found") from None

    def place_of(self, name: str) -> int:
        """Where the content of a record begins, from the start of the archive."""
        return self._place(self.entry(name))

    def file_place_of(self, name: str) -> int | None:
        """Where the content begins in the file, if it can be mapped: None if it is compressed."""
        entry = self.entry(name)
        return self._start + self._place(entry) if entry.method == _STORED else None

    def _place(self, entry: Entry) -> int:
        header = self._read(entry.header, HEADER.size)
        signature, *_, name_length, extra_length = HEADER.unpack(header)
        if signature != b"PK\x03\x04":
            raise failed(f"reading file {entry.name}: invalid header or archive is corrupted")
        name = self._read(entry.header + HEADER.size, name_length)
        if name != entry.name.encode("utf-8" if entry.flags & UTF_8 else "cp437"):
            raise failed(f"reading file {entry.name}: its header has another name")
        place = entry.header + HEADER.size + name_length + extra_length
        if place + entry.stored_size > self._directory:
            raise failed(f"reading file {entry.name}: it reaches out of the archive")
        if entry.method == _STORED and entry.stored_size != entry.size:
            raise failed(f"reading file {entry.name}: its sizes contradict each other")
        return place

    def read(self, name: str) -> np.ndarray:
        """The content of a record, in memory of its own."""
        entry = self.entry(name)
        place = self._place(entry)
        if entry.flags & _ENCRYPTED or entry.method not in (_STORED, _DEFLATED):
            raise failed(f"reading file {name}: unsupported encryption or compression")
        content = self._stored(place, entry) if entry.method == _STORED else self._inflated(place, entry)
        # torch.serialization.set_crc32_options(False) writes zeros.
        if entry.checksum and zlib.crc32(content.data) != entry.checksum:
            raise failed(f"reading file {name}: CRC-32 check failed")
        return content

    def _stored(self, place: int, entry: Entry) -> np.ndarray:
        content = np.empty(entry.size, np.uint8)
        self._file.seek(self._start + place)
        if fill(self._file, content.data) != entry.size:
            raise failed(f"reading file {entry.name}: the file ended early")
        return content

    def _inflated(self, place: int, entry: Entry) -> np.ndarray:
        packed = self._read(place, entry.stored_size)
        try:
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, entry.size + 1)
        except (zlib.error, OverflowError):
            content = b""
        if len(content) != entry.size:
            raise failed(f"reading file {entry.name}: decompression failed")
        return np.frombuffer(bytearray(content), np.uint8)


def _entry_at(content: bytes, at: int) -> tuple[Entry, int]:
    """An entry of the directory, and where the next one begins."""
    if len(content) - at < ENTRY.size or content[at : at + 4] != b"PK\x01\x02":
        raise _no_zip("failed reading the central directory")
    fields = ENTRY.unpack_from(content, at)
    _, _, _, flags, method, _, _, checksum, stored_size, size, name_length, extra_length, comment_length = fields[:13]
    names_end = at + ENTRY.size + name_length
    extra = content[names_end : names_end + extra_length]
    try:
        name = content[at + ENTRY.size : names_end].decode("utf-8" if flags & UTF_8 else "cp437")
    except UnicodeDecodeError:
        raise _no_zip("a name is no text") from None
    size, stored_size, header = _large(extra, [size, stored_size, fields[-1]])
    return Entry(name, method, flags, checksum, stored_size, size, header), names_end + extra_length + comment_length


def _large(extra: bytes, numbers: list[int]) -> list[int]:
    """The numbers; those that need more than 32 bits are in an extra field."""
    if FULL not in numbers:
        return numbers
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            field = io.BytesIO(extra[at + 4 : at + 4 + length])
            return [int.from_bytes(field.read(8), "little") if number == FULL else number for number in numbers]
        at += 4 + length
    return numbers


_MOST_AT_ONCE = 1 << 30


def fill(file: Any, memory: memoryview) -> int:
    """Read into memory until it is full or the file has ended; how many bytes that are."""
    done = 0
    while done < len(memory):
        part = memory[done : done + _MOST_AT_ONCE]
        count = file.readinto(part) if hasattr(file, "readinto") else _copied(file.read(len(part)), part)
        if not count:
            break
        done += count
    return done


def _copied(content: bytes, memory: memoryview) -> int:
    memory[: len(content)] = content
    return len(content)
