"""Compiled loops of pointwise ops, which `pip install mindtorch[jit]` adds; see docs/performance.md."""

from typing import NamedTuple

from mindtorch._support.lazy import lazy
from mindtorch.backends.cpu.compiled import choice, settings

_cache = lazy("mindtorch.backends.cpu.compiled.cache")


class Flags(NamedTuple):
    """`mode` is 0, 1 or auto; `compiled` are the expressions that ops of this run use, `numpy` those that they lack."""

    mode: str
    directory: str
    compiled: tuple[str, ...]
    numpy: tuple[str, ...]


def is_available() -> bool:
    """Whether compiled loops can be used here, and MINDTORCH_JIT does not forbid it."""
    return settings.mode() != "0" and settings.is_installed()


def flags() -> Flags:
    """What is set, and what is used."""
    decisions = choice.decisions()
    directory = str(_cache.directory()) if is_available() else ""
    served = [name for name in sorted(decisions) if decisions[name]]
    return Flags(settings.mode(), directory, tuple(served), tuple(sorted(decisions.keys() - served)))
