"""Large reductions of processes on one machine: piece by piece, through memory that all of them have.

Each process writes a piece of its tensor there, but for the part that it reduces itself: that one it reads from all
others, reduces in its own tensor, and writes there as well. Then it reads the parts that others have reduced. Pieces
stay in the cache, and nothing has to be allocated for a tensor.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch.distributed.engines.cores import is_crowded
from mindtorch.distributed.engines.reducing import folding
from mindtorch.distributed.reduce_op import RedOpType

_PIECE = 1 << 19  # bytes: what a core reads and writes of one fits into its cache
_CROWDED_PIECE = 1 << 21  # where it is the meetings that take long
_ALL_ROWS = 1 << 24  # bytes that the pieces of all processes may have together
_PAGE = 1 << 12
_TOKEN = 16


class Pieces:
    """The memory, and the reductions that go through it; `meet` returns when all processes have called it.

    There are two places for pieces, which take turns: when all meet over a piece, none reads the one before the last.
    """

    def __init__(self, memory: mmap.mmap, rank: int, size: int, nbytes: int, meet: Callable[[], Any]) -> None:
        self._rank = rank
        self._size = size
        self._meet = meet
        self._nbytes = nbytes
        self._places = np.frombuffer(memory, np.uint8).reshape(2, size + 1, self._nbytes)
        self._turn = 0

    def _next(self, dtype: np.dtype[Any], count: int) -> np.ndarray:
        """Room for a piece of each process, and for the result."""
        self._turn = 1 - self._turn
        return self._places[self._turn, :, : count * dtype.itemsize].view(dtype)

    def reduce(self, memory: np.ndarray, op: RedOpType, result: np.ndarray | None) -> None:
        """Reduce the memories of all processes; those that want the result get it, in their own memory or another."""
        fold = folding(memory.dtype, op)
        step = self._nbytes // memory.itemsize
        rows = self._sent(memory[:step])
        self._meet()
        for start in range(0, memory.size, step):
            piece, following = memory[start : start + step], memory[start + step : start + 2 * step]
            low, high = self._part(piece.size)
            read = None if result is None else result[start : start + step]
            # What is in the first two places is read before anything is written.
            reduced = rows[-1, low:high] if read is None or self._rank > 1 else read[low:high]
            fold(reduced, self._of_all(rows, low, high, piece[low:high]))
            if read is not None and self._rank > 1:
                read[low:high] = reduced
            elif read is not None:
                rows[-1, low:high] = reduced
            filled, rows = rows, self._sent(following) if following.size else rows
            self._meet()
            if read is not None:
                read[:low] = filled[-1, :low]
                read[high:] = filled[-1, high : piece.size]

    def _part(self, count: int) -> tuple[int, int]:
        """Which elements of a piece this process reduces."""
        return count * self._rank // self._size, count * (self._rank + 1) // self._size

    def _sent(self, piece: np.ndarray) -> np.ndarray:
        """The rows in which a piece lies that the others reduce parts of."""
        rows = self._next(piece.dtype, piece.size)
        low, high = self._part(piece.size)
        rows[self._rank, :low] = piece[:low]
        rows[self._rank, high:] = piece[high:]
        return rows

    def reduce_scatter(self, memory: np.ndarray, parts: Sequence[np.ndarray], op: RedOpType) -> None:
        """Reduce the parts for this process, which all have, to other memory."""
        fold = folding(memory.dtype, op)
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
            fold(result, self._of_all(rows, low, low + result.size, own))

    def _of_all(self, rows: np.ndarray, low: int, high: int, own: np.ndarray) -> list[np.ndarray]:
        """What is to be reduced, in the order of the ranks."""
        return [own if rank == self._rank else rows[rank, low:high] for rank in range(self._size)]


def shared(rank: int, size: int, gather: Callable[[Any], list[Any]], meet: Callable[[], Any]) -> Pieces | None:
    """The memory for some processes, all of which call this; None if they are not on one machine.

    It has no name that would outlive the processes.
    """
    token, own, piece = os.urandom(_TOKEN), -1, _piece(size)
    if rank == 0 and hasattr(os, "memfd_create"):
        own = os.memfd_create("mindtorch")
        os.truncate(own, _whole(size, piece))
        os.pwrite(own, token, _whole(size, piece) - _PAGE)
    place, token, piece = gather((f"/proc/{os.getpid()}/fd/{own}", token, piece))[0]
    memory = _opened(place, _whole(size, piece), token)
    are_all_there = all(gather(memory is not None))
    if own >= 0:
        os.close(own)
    if memory is None or not are_all_there:
        return None
    return Pieces(memory, rank, size, piece, meet)


def _piece(size: int) -> int:
    most = _CROWDED_PIECE if is_crowded(size) else _PIECE
    return max(min(most, _ALL_ROWS // size) // _PAGE, 1) * _PAGE


def _whole(size: int, piece: int) -> int:
    return 2 * (size + 1) * piece + _PAGE


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
