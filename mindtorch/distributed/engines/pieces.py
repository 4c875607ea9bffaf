"""Large reductions of processes on one machine: piece by piece, through memory that all of them have.

Each process writes a piece of its tensor there, reduces a part of what all have written, and reads the whole. So a
tensor goes through the memory of the machine once in each direction, and nothing has to be allocated for it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch.distributed.engines.reducing import fold_into
from mindtorch.distributed.reduce_op import RedOpType

_ALL_ROWS = 1 << 22  # bytes that the pieces of all processes have together: some fit into the cache, few have to wait
_PAGE = 1 << 12
_TOKEN = 16
_END = object()


class Pieces:
    """The memory, and the reductions that go through it; `meet` returns when all processes have called it.

    There are two places for pieces, which take turns: when all meet over a piece, none reads the one before the last.
    """

    def __init__(self, memory: mmap.mmap, rank: int, size: int, meet: Callable[[], Any]) -> None:
        self._rank = rank
        self._size = size
        self._meet = meet
        self._nbytes = _piece(size)
        self._places = np.frombuffer(memory, np.uint8).reshape(2, size + 1, self._nbytes)
        self._turn = 0

    def _next(self, dtype: np.dtype[Any], count: int) -> np.ndarray:
        """Room for a piece of each process, and for the result."""
        self._turn = 1 - self._turn
        return self._places[self._turn, :, : count * dtype.itemsize].view(dtype)

    def reduce(self, memory: np.ndarray, op: RedOpType, result: np.ndarray | None) -> None:
        """Reduce the memories of all processes; those that want the result get it, in their own memory or another."""
        step = self._nbytes // memory.itemsize
        under_way: list[Iterator[None]] = []
        for start in range(0, memory.size, step):
            place = slice(start, start + step)
            under_way.append(self._reduced(memory[place], op, None if result is None else result[place]))
            self._go_on(under_way)
        while under_way:
            self._go_on(under_way)

    def _go_on(self, under_way: list[Iterator[None]]) -> None:
        """Do the next thing for each piece, so that all have to meet once for all of them."""
        under_way[:] = [each for each in under_way if next(each, _END) is not _END]
        if under_way:
            self._meet()

    def _reduced(self, piece: np.ndarray, op: RedOpType, result: np.ndarray | None) -> Iterator[None]:
        """Reduce a piece; where this stops, all processes have to meet."""
        rows = self._next(piece.dtype, piece.size)
        low, high = (piece.size * each // self._size for each in (self._rank, self._rank + 1))
        rows[self._rank, :low] = piece[:low]
        rows[self._rank, high:] = piece[high:]
        yield
        fold_into(rows[-1, low:high], self._of_all(rows, low, high, piece[low:high]), op)
        yield
        if result is not None:
            result[...] = rows[-1]

    def reduce_scatter(self, memory: np.ndarray, parts: Sequence[np.ndarray], op: RedOpType) -> None:
        """Reduce the parts for this process, which all have, to other memory."""
        step = self._nbytes // (memory.itemsize * self._size)
        for start in range(0, memory.size, step):
            result = memory[start : start + step]
            rows = self._next(memory.dtype, result.size * self._size)
            for rank, part in enumerate(parts):
                if rank != self._rank:
                    low = rank * result.size
                    rows[self._rank, low : low + result.size] = part[start : start + step]
            self._meet()
            low = self._rank * result.size
            own = parts[self._rank][start : start + step]
            fold_into(result, self._of_all(rows, low, low + result.size, own), op)

    def _of_all(self, rows: np.ndarray, low: int, high: int, own: np.ndarray) -> list[np.ndarray]:
        """What is to be reduced, in the order of the ranks."""
        return [own if rank == self._rank else rows[rank, low:high] for rank in range(self._size)]


def shared(rank: int, size: int, gather: Callable[[Any], list[Any]], meet: Callable[[], Any]) -> Pieces | None:
    """The memory for some processes, all of which call this; None if they are not on one machine.

    It has no name that would outlive the processes.
    """
    nbytes = 2 * (size + 1) * _piece(size) + _PAGE
    token, own = os.urandom(_TOKEN), -1
    if rank == 0 and hasattr(os, "memfd_create"):
        own = os.memfd_create("mindtorch")
        os.truncate(own, nbytes)
        os.pwrite(own, token, nbytes - _PAGE)
    place, token = gather((f"/proc/{os.getpid()}/fd/{own}", token))[0]
    memory = _opened(place, nbytes, token)
    are_all_there = all(gather(memory is not None))
    if own >= 0:
        os.close(own)
    if memory is None or not are_all_there:
        return None
    return Pieces(memory, rank, size, meet)


def _piece(size: int) -> int:
    return max(_ALL_ROWS // size // _PAGE, 1) * _PAGE


def _opened(place: str, nbytes: int, token: bytes) -> mmap.mmap | None:
    """The memory at a place of another process, which may be on another machine where the place is another file."""
    try:
        opened = os.open(place, os.O_RDWR)
    except OSError:
        return None
    try:
        if os.fstat(opened).st_size != nbytes or os.pread(opened, _TOKEN, nbytes - _PAGE) != token:
            return None
        return mmap.mmap(opened, nbytes - _PAGE)
    except OSError:
        return None
    finally:
        os.close(opened)
