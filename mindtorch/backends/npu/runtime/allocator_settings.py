"""PYTORCH_NPU_ALLOC_CONF: how the caching allocator works, as programs choose it for their whole process.

The text has torch's form, `name:value,name:value`, and wrong ones get torch's errors, when memory of a device is first
asked for. What a setting would do that is not done here is told by a warning, and nothing else happens.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from mindtorch._support.warnings import warn

_MB = 1 << 20
_VARIABLES = ("PYTORCH_NPU_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
_WITHOUT_EXPANDABLE = (
    "`max_split_size_mb` or `garbage_collection_threshold`, cannot be enabled with `expandable_segments`, please set "
    "`expandable_segments` to `False`."
)


@dataclass
class Settings:
    """Sizes are bytes. `max_split_size`: larger blocks are not cut; `garbage_collection_threshold`: the part of the
    allowed memory from which on what is free is given back before more is asked for."""

    max_split_size: int | None = None
    garbage_collection_threshold: float = 0.0
    large_segment_size: int = 20 * _MB
    per_process_memory_fraction: float | None = None
    expandable_segments: bool = False


def parsed(text: str) -> Settings:
    """What a text says; torch's errors if it is none."""
    settings, tokens = Settings(), re.findall(r"[,:\[\]]|[^\s,:\[\]]+", text)
    place = 0
    while place < len(tokens):
        name = tokens[place]
        if name not in _READERS and name not in _WITHOUT_EFFECT:
            raise ValueError(f"Unrecognized key '{name}' in NPU allocator config.")
        _expect(tokens, place + 1, ":")
        end = _end_of_value(tokens, place + 2)
        if name in _READERS:
            _READERS[name](settings, tokens, place + 2)
        else:
            warn(f"torch_npu not support key '{name}' in NPU allocator config.")
        if end < len(tokens):
            _expect(tokens, end, ",")
        place = end + 1
    return _checked(settings)


def _end_of_value(tokens: list[str], place: int) -> int:
    """Behind a word, or behind a list in brackets."""
    if _token(tokens, place) != "[":
        return place + 1
    while _token(tokens, place) != "]":
        place += 1
    return place + 1


def _checked(settings: Settings) -> Settings:
    if settings.expandable_segments:
        if settings.max_split_size is not None or settings.garbage_collection_threshold:
            raise RuntimeError(_WITHOUT_EXPANDABLE)
        warn("expandable_segments setting failure, now change to `False`.")
        settings.expandable_segments = False
    return settings


@cache
def settings() -> Settings:
    """What the environment says, read once."""
    return parsed(next((text for name in _VARIABLES if (text := os.environ.get(name)) is not None), ""))


# -------------------- values --------------------


def _token(tokens: list[str], place: int) -> str:
    if place >= len(tokens):
        raise RuntimeError("Index out of bounds in ConfigTokenizer")
    return tokens[place]


def _expect(tokens: list[str], place: int, expected: str) -> None:
    found = _token(tokens, place)
    if found != expected:
        raise ValueError(f"Expected '{expected}' at index {place} in ConfigTokenizer but got '{found}'")


def _number(tokens: list[str], place: int, kind: Callable[[str], Any]) -> Any:
    """As C++ reads numbers: what comes after the digits does not count."""
    match = re.match(r"[+-]?\d+" if kind is int else r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", _token(tokens, place))
    if match is None:
        raise ValueError("stoull" if kind is int else "stod")
    return kind(match[0])


def _is_true(tokens: list[str], place: int) -> bool:
    found = _token(tokens, place)
    if found not in ("True", "False"):
        raise ValueError(f"Expected 'True' or 'False' at index {place} in ConfigTokenizer but got '{found}'")
    return found == "True"


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _read_split_size(settings: Settings, tokens: list[str], place: int) -> None:
    size = _number(tokens, place, int)
    if 0 <= size < 20:
        _refuse("CachingAllocator option max_split_size_mb too small, must be >= 20")
    settings.max_split_size = None if size < 0 else size * _MB  # a negative number is a large one to C++


def _read_threshold(settings: Settings, tokens: list[str], place: int) -> None:
    threshold = _number(tokens, place, float)
    if not 0 < threshold < 1:
        _refuse("garbage_collect_threshold is invalid, set it in (0.0, 1.0)")
    settings.garbage_collection_threshold = threshold


def _read_large_segment(settings: Settings, tokens: list[str], place: int) -> None:
    size = _number(tokens, place, int)
    if size <= 10:
        _refuse("CachingAllocator option large_segment_size_mb must be > 10 MB")
    settings.large_segment_size = size * _MB


def _read_segment(settings: Settings, tokens: list[str], place: int) -> None:
    warn("`segment_size_mb` is deprecated, please use `large_segment_size_mb` instead.")
    if not _token(tokens, place).isdigit():
        raise RuntimeError("CachingAllocator option segment_size_mb is invalid.")
    size = int(tokens[place])
    if not 20 <= size <= 512:
        raise RuntimeError("CachingAllocator option segment_size_mb error, must be [20, 512], dtype is int")
    settings.large_segment_size = size * _MB


def _read_fraction(settings: Settings, tokens: list[str], place: int) -> None:
    fraction = _number(tokens, place, float)
    if not 0 <= fraction <= 1:
        raise RuntimeError("per_process_memory_fraction is invalid, set it in [0.0, 1.0]")
    settings.per_process_memory_fraction = fraction


def _read_expandable(settings: Settings, tokens: list[str], place: int) -> None:
    settings.expandable_segments = _is_true(tokens, place)


_READERS: dict[str, Callable[[Settings, list[str], int], None]] = {
    "max_split_size_mb": _read_split_size,
    "garbage_collection_threshold": _read_threshold,
    "large_segment_size_mb": _read_large_segment,
    "segment_size_mb": _read_segment,
    "per_process_memory_fraction": _read_fraction,
    "expandable_segments": _read_expandable,
}
# Names that torch or torch_npu knows, and whose values are not looked at.
_WITHOUT_EFFECT = frozenset(
    (
        "base_addr_aligned_kb",
        "max_non_split_rounding_mb",
        "multi_stream_lazy_reclaim",
        "page_size",
        "pin_memory_expandable_segments",
        "pinned_mem_register",
        "pinned_reserve_segment_size_mb",
        "pinned_use_background_threads",
        "release_lock_on_npumalloc",
        "roundup_power2_divisions",
    )
)
