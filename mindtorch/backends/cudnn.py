"""There is no cuDNN here. Its settings can be set, and change nothing: results are the same every time anyway."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    return False


def version() -> None:
    return None


@contextmanager
def flags(*args: Any, **kwargs: Any) -> Iterator[None]:
    """Settings for a block."""
    yield
