"""Which of torch's ways to compute attention are allowed. There is one here, with the same results: a note is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum


class SDPBackend(IntEnum):
    """torch's ways to compute attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


_CHOICES = (
    SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION
)  # fmt: skip
_allowed = set(_CHOICES)


def is_allowed(backend: SDPBackend) -> bool:
    return backend in _allowed


def allow(backend: SDPBackend, enabled: bool) -> None:
    """Note that a way is allowed, or that it is not."""
    (_allowed.add if enabled else _allowed.discard)(backend)


@contextmanager
def only(backends: Iterable[SDPBackend]) -> Iterator[None]:
    """A block in which only some ways are allowed."""
    before = set(_allowed)
    _allowed.clear()
    _allowed.update(backends)
    try:
        yield
    finally:
        _allowed.clear()
        _allowed.update(before)


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """A block in which only some of torch's ways to compute attention are allowed."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    with only([backends] if isinstance(backends, SDPBackend) else backends):
        yield
