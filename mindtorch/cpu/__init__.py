"""The CPU as a device among others: the names of `mindtorch.cuda` for programs that work with any device."""

from __future__ import annotations

from typing import Any

from mindtorch.cpu import amp

__all__ = [
    "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count", "is_available",
    "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """The one order in which everything is computed."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Stream) -> None:
        """Everything before is computed already."""


class StreamContext:
    """A block on a stream."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        """There is one stream only."""

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was changed."""


_stream = Stream()


def stream(stream: Stream | None) -> StreamContext:
    """A block on a stream."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    return _stream


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def device_count() -> int:
    return 1


def current_device() -> str:
    return "cpu"


def set_device(device: Any) -> None:
    """There is only one."""


def synchronize(device: Any = None) -> None:
    """Everything is computed already."""
