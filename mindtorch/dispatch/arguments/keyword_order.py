"""The order in which torch's texts name keyword arguments: that of the C++ hash table which it puts them into.

The table is the `std::unordered_map` of libstdc++: a new name goes in front of those that share its bucket, or in front
of all if none does. Most often that reverses the order.
"""

import struct
from collections.abc import Iterable

_SEED = 0xC70F6907
_FACTOR = 0xC6A4A7935BD1E995
_WORD = (1 << 64) - 1
_SIZES = (13, 29, 59)  # how many buckets there are: more as soon as there are more names than buckets


def in_torch_order(names: Iterable[str]) -> list[str]:
    """The names as torch enumerates them."""
    ordered: list[str] = []
    buckets = _SIZES[0]
    for name in names:
        if len(ordered) == buckets != _SIZES[-1]:
            buckets = _SIZES[_SIZES.index(buckets) + 1]
            ordered = _inserted([], ordered, buckets)
        ordered = _inserted(ordered, [name], buckets)
    return ordered


def _inserted(ordered: list[str], names: list[str], buckets: int) -> list[str]:
    for name in names:
        bucket = _hash(name) % buckets
        place = next((place for place, other in enumerate(ordered) if _hash(other) % buckets == bucket), 0)
        ordered = [*ordered[:place], name, *ordered[place:]]
    return ordered


def _hash(text: str) -> int:
    """`std::hash<std::string>`, which is a MurmurHash of 64 bits."""
    data = text.encode()
    whole = len(data) & ~7
    result = _SEED ^ _times(len(data))
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        result = _times(result ^ _times(_mixed(_times(word))))
    if len(data) > whole:
        result = _times(result ^ int.from_bytes(data[whole:], "little"))
    return _mixed(_times(_mixed(result)))


def _times(number: int) -> int:
    return number * _FACTOR & _WORD


def _mixed(number: int) -> int:
    return number ^ number >> 47
