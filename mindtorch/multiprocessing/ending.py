"""Waiting for processes to end."""

import time
from collections.abc import Sequence
from typing import Any


def alive(processes: Sequence[Any]) -> list[Any]:
    """Those that have not ended."""
    return [process for process in processes if process.is_alive()]


def wait_for(processes: Sequence[Any], seconds: float) -> None:
    """Wait until all have ended, so long at most."""
    end = time.monotonic() + seconds
    for process in processes:
        process.join(max(0, end - time.monotonic()))
