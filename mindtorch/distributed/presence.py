"""Which of the processes that begin together still run, as far as it can be seen from this machine.

Each process writes into the store who it is, and the launcher does so for those that it starts. Whoever waits for
others looks whether they still run.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

from mindtorch.distributed.stores import Store

_STATE, _START = 0, 19  # places in /proc/PID/stat behind the name of the program
_ENDED = ("Z", "X")  # also if its parent has not asked for its exit code


class Presence:
    """The processes of a program, in the store where they meet."""

    def __init__(self, store: Store, size: int) -> None:
        self._store = store
        self._size = size
        self._known: dict[int, str] = {}

    def announce(self, rank: int) -> None:
        """This process is the one of a rank."""
        announce(self._store, rank, os.getpid())

    def ended(self) -> list[int]:
        """The ranks of processes that were here, on this machine, and have ended."""
        here = _machine()
        return [rank for rank in range(self._size) if _has_ended(self._of(rank), here)]

    def _of(self, rank: int) -> str | None:
        if rank not in self._known and self._store.check([_key(rank)]):
            self._known[rank] = self._store.get(_key(rank)).decode()
        return self._known.get(rank)


def announce(store: Store, rank: int, process: int) -> None:
    """Write into the store which process is the one of a rank."""
    store.set(_key(rank), json.dumps([_machine(), process, _start(process)]))


def _key(rank: int) -> str:
    return f"process{rank}"


@cache
def _machine() -> str:
    """What the processes that this one can see have in common; empty where it sees none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _has_ended(process: str | None, here: str) -> bool:
    if process is None:
        return False
    machine, number, start = json.loads(process)
    return bool(machine) and machine == here and (not start or _start(number) != start)


def _start(process: int) -> str:
    """When a process has started, as another one may have its number later; empty when it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[_STATE] in _ENDED else fields[_START]
