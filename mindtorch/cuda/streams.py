"""Streams and events of devices, which cannot be made; a block without a stream changes nothing."""

from __future__ import annotations

from typing import Any


class Stream:
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"torch.cuda.{cls.__name__} requires CUDA support")


class ExternalStream(Stream):
    pass


class Event:
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"Tried to instantiate dummy base class {cls.__name__}")


class CUDAGraph(Event):
    pass


class graph:
    """A block whose work would be recorded to be done again: it needs a stream."""

    def __init__(self, cuda_graph: CUDAGraph, *args: Any, **kwargs: Any) -> None:
        Stream()


class StreamContext:
    """A block on a stream: there is none but None."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        """Nothing to change."""

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was changed."""


def stream(stream: Stream | None) -> StreamContext:
    """A block on a stream."""
    return StreamContext(stream)
