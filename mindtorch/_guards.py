"""What programs ask of a compilation: there is none, so that no context of one is ever there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TracingContext:
    """What a compiler knows of the program that it traces."""

    @staticmethod
    def try_get() -> None:
        """The one of this thread: None."""

    @staticmethod
    def get() -> Any:
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")


class CompileContext:
    """What is compiled."""

    @staticmethod
    def try_get() -> None:
        """The one of this thread: None."""

    @staticmethod
    def current_compile_id() -> None:
        """The number of the compilation: None."""


@contextmanager
def tracing(context: Any) -> Iterator[Any]:
    """A block in which a context is the current one; the one that is given is None, as there is no other."""
    yield context


def active_fake_mode() -> None:
    """The mode of fake tensors that is active: None."""


def detect_fake_mode(inputs: Any = None) -> None:
    """The mode that the inputs belong to: None."""
