"""How much is checked and said: PyTorch's `TORCH_DISTRIBUTED_DEBUG`. Here all is checked at every level."""

from __future__ import annotations

import os
from enum import Enum


class DebugLevel(Enum):
    """The levels."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_VARIABLE = "TORCH_DISTRIBUTED_DEBUG"


def _from_environment() -> DebugLevel:
    value = os.environ.get(_VARIABLE, "OFF").upper() or "OFF"
    if value not in DebugLevel.__members__:
        raise ValueError(f"The value of {_VARIABLE} must be OFF, INFO, or DETAIL.")
    return DebugLevel[value]


_chosen: list[DebugLevel] = []  # by a call, rather than by the environment


def get_debug_level() -> DebugLevel:
    """The level that was set, or that of the environment."""
    return _chosen[-1] if _chosen else _from_environment()


def set_debug_level(level: DebugLevel) -> None:
    """Set the level."""
    _chosen[:] = [level]


def set_debug_level_from_env() -> None:
    """Set the level that the environment has now."""
    _chosen[:] = [_from_environment()]
