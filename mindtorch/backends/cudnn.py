"""There is no cuDNN here. Its settings can be set, and change nothing: results are the same every time anyway."""

from collections.abc import Iterator
from contextlib import contextmanager

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
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """Settings for a block."""
    settings = globals()
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    before = {name: settings[name] for name in names}
    settings.update(zip(names, (enabled, benchmark, benchmark_limit, deterministic, allow_tf32)))
    try:
        yield
    finally:
        settings.update(before)
