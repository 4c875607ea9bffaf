"""MPI by `mpi4py`, under ULFM: the extension that reports dead processes instead of waiting for them.

Loaded with the first process group that needs it; `pip install mindtorch[mpi]` installs it.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from mindtorch.distributed.engines.communicator import WORDS, EngineError, PeerLost, Purpose, Revoked
from mindtorch.distributed.reduce_op import RedOpType
from mindtorch.lazy import lazy

MPI: Any = lazy("mpi4py.MPI")
mpi4py: Any = lazy("mpi4py")

NOT_INSTALLED = (
    "Distributed package doesn't have MPI built in. Process groups of several processes need it: `pip install "
    "mindtorch[mpi]`, and start the program with `python -m mindtorch.distributed.run`."
)

# Reductions that MPI has for all numbers, and those of truth values, where it has logical operations only.
_OPERATIONS = {
    RedOpType.SUM: ("SUM", "LOR"),
    RedOpType.PRODUCT: ("PROD", "LAND"),
    RedOpType.MIN: ("MIN", "LAND"),
    RedOpType.MAX: ("MAX", "LOR"),
    RedOpType.BAND: ("BAND", "LAND"),
    RedOpType.BOR: ("BOR", "LOR"),
    RedOpType.BXOR: ("BXOR", "LXOR"),
}


def is_installed() -> bool:
    """Whether the engine can be loaded."""
    return find_spec("mpi4py") is not None


def world() -> MpiCommunicator:
    """The communicator of all processes that were started together; the first call initializes MPI."""
    if not is_installed():
        raise RuntimeError(NOT_INSTALLED)
    # Open MPI looks a second long for network cards of one family; processes on one machine never use them.
    os.environ.setdefault("OMPI_MCA_btl", "^ofi")
    mpi4py.rc.finalize = False  # at exit it would wait for processes that wait themselves: see `finalize`
    return MpiCommunicator(MpiCommunicator.run(MPI.COMM_WORLD.Dup))


def reports_lost_processes() -> bool:
    """Whether `mpiexec` was told to go on without processes that have ended: `--with-ft ulfm`."""
    return os.environ.get("OMPI_MCA_mpi_ft_enable", "0").lower() in ("1", "true")


def finalize() -> None:
    """End MPI, once all processes have left all groups. It waits for all of them, also for one that has stopped; so
    where a process that ends without it just counts as lost, none calls this."""
    MPI.Finalize()


# Tags of messages that users can't send.
_MEETING = 32010  # and the purpose
_REGROUPING = 32003


class MpiCommunicator:
    """A communicator of MPI; calls raise `PeerLost`, `Revoked` or another `EngineError`."""

    name = "mpi"

    def __init__(self, comm: Any) -> None:
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        self._comm = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()
        self._operations = {kind: tuple(getattr(MPI, name) for name in names) for kind, names in _OPERATIONS.items()}
        self._words = bytearray(16 * WORDS)
        self._message = [self._words, MPI.INT64_T]
        self._format = struct.Struct(f"={2 * WORDS}q")

    # -------------------- collectives --------------------

    def differences(self, words: Sequence[int]) -> bool:
        # The least of each word and of its negative: they are one another's negatives if all words are the same.
        self._format.pack_into(self._words, 0, *words, *[-word for word in words])
        self.run(self._comm.Allreduce, MPI.IN_PLACE, self._message, MPI.MIN)
        found = self._format.unpack_from(self._words)
        return any(found[i] != -found[WORDS + i] for i in range(WORDS))

    def gather_objects(self, value: Any) -> list[Any]:
        return self.run(self._comm.allgather, value)

    def all_reduce(self, memory: np.ndarray, op: RedOpType) -> None:
        with _Reducible(memory) as numbers:
            self.run(self._comm.Allreduce, MPI.IN_PLACE, numbers, self._operation(op, memory))

    def reduce(self, memory: np.ndarray, op: RedOpType, root: int) -> None:
        operation = self._operation(op, memory)
        if self.rank != root:
            self.run(self._comm.Reduce, _reducible(memory), None, operation, root)
            return
        with _Reducible(memory) as numbers:
            self.run(self._comm.Reduce, MPI.IN_PLACE, numbers, operation, root)

    def broadcast(self, memory: np.ndarray, root: int) -> None:
        self.run(self._comm.Bcast, _bytes(memory), root)

    def all_gather(self, output: np.ndarray, memory: np.ndarray) -> None:
        self.run(self._comm.Allgather, _bytes(memory), _bytes(output))

    def gather(self, output: np.ndarray | None, memory: np.ndarray, root: int) -> None:
        self.run(self._comm.Gather, _bytes(memory), None if output is None else _bytes(output), root)

    def scatter(self, memory: np.ndarray, parts: np.ndarray | None, root: int) -> None:
        self.run(self._comm.Scatter, None if parts is None else _bytes(parts), _bytes(memory), root)

    def reduce_scatter(self, memory: np.ndarray, parts: np.ndarray, op: RedOpType) -> None:
        numbers = _reducible(parts)
        total = numbers if numbers is not parts else parts.copy()
        self.run(self._comm.Allreduce, MPI.IN_PLACE, total, self._operation(op, parts))
        memory[...] = total[self.rank * memory.size : (self.rank + 1) * memory.size]

    def all_to_all(
        self, output: np.ndarray, parts: np.ndarray, output_counts: Sequence[int], counts: Sequence[int]
    ) -> None:
        unit = parts.itemsize
        sent = [parts.view(np.uint8), [unit * each for each in counts], MPI.BYTE]
        received = [output.view(np.uint8), [unit * each for each in output_counts], MPI.BYTE]
        self.run(self._comm.Alltoallv, sent, received)

    def barrier(self) -> None:
        self.run(self._comm.Barrier)

    # -------------------- messages --------------------

    def start_send(self, memory: np.ndarray, peer: int, tag: int) -> MpiRequest:
        return MpiRequest(self.run(self._comm.Isend, _bytes(memory), peer, tag), self)

    def start_receive(self, memory: np.ndarray, peer: int | None, tag: int) -> MpiRequest:
        source = MPI.ANY_SOURCE if peer is None else peer
        return MpiRequest(self.run(self._comm.Irecv, _bytes(memory), source, tag), self)

    # -------------------- groups and failures --------------------

    def group_of(self, ranks: Sequence[int] | None, order: int) -> MpiCommunicator | None:
        made = self.run(self._comm.Split, MPI.UNDEFINED if ranks is None else min(ranks), order)
        return None if ranks is None else MpiCommunicator(made)

    def group_of_members(self, ranks: Sequence[int], number: int) -> MpiCommunicator:
        return MpiCommunicator(self.run(self._comm.Create_group, self._group(ranks), number))

    def reordered(self, rank: int) -> MpiCommunicator:
        """The same processes, each with the rank that it asks for."""
        made = MpiCommunicator(self.run(self._comm.Split, 0, rank))
        if made.rank != rank:
            raise ValueError(f"the processes have asked for the same rank twice, or for one that is missing: {rank}")
        return made

    def regrouped(self, excluded: Sequence[int], seconds: float) -> tuple[list[int], MpiCommunicator]:
        # Each survivor tells all others which processes it leaves out and which are dead, until all name the same.
        deadline = time.monotonic() + seconds
        dead = set(self.lost_ranks())
        lost = dead.union(excluded)
        while True:
            named = self._named_by_others(lost, dead, deadline)
            if all(each == (lost, dead) for each in named):
                break
            lost = lost.union(*[each for each, _ in named])
            dead = dead.union(*[each for _, each in named])
        kept = [rank for rank in range(self.size) if rank not in lost]
        if lost == dead:
            return kept, MpiCommunicator(self.run(self._comm.Shrink))
        # Shrink would wait for those which live and are left out, and may have stopped.
        name = f"mindtorch{self._places_in_world()}"
        return kept, MpiCommunicator(self.run(MPI.Intracomm.Create_from_group, self._group(kept), name))

    def _named_by_others(self, lost: set[int], dead: set[int], deadline: float) -> list[tuple[set[int], set[int]]]:
        """What the other survivors leave out and take for dead; and what is known then, if some have died meanwhile."""
        mine = np.array([[rank in each for rank in range(self.size)] for each in (lost, dead)], np.uint8).reshape(-1)
        others = [rank for rank in range(self.size) if rank != self.rank and rank not in lost]
        places = self._places_in_world()
        heard = {rank: mine.copy() for rank in others}
        pending = {rank: _started(MPI.COMM_WORLD.Irecv, heard[rank], places[rank], self) for rank in others}
        sent = [_started(MPI.COMM_WORLD.Isend, mine, places[rank], self) for rank in others]
        gone = {rank for rank, each in pending.items() if not _hears(each, deadline, rank)}
        del sent
        named = [_two_sets(each) for rank, each in heard.items() if rank not in gone]
        return [*named, (lost | gone, dead | gone)] if gone else named

    def _places_in_world(self) -> list[int]:
        return MPI.Group.Translate_ranks(self._comm.Get_group(), list(range(self.size)), MPI.COMM_WORLD.Get_group())

    def _group(self, ranks: Sequence[int]) -> Any:
        return self._comm.Get_group().Incl(list(ranks))

    def lost_ranks(self) -> list[int]:
        lost = self._comm.Get_failed()
        return MPI.Group.Translate_ranks(lost, list(range(lost.Get_size())), self._comm.Get_group())

    def revoke(self) -> None:
        self._comm.Revoke()

    def meet(self, seconds: float, ranks: Sequence[int] | None = None, purpose: Purpose = Purpose.LEAVE) -> bool:
        # In each round every process hears from one that has heard from twice as many as in the round before. MPI's own
        # barrier can't be left when it takes too long.
        deadline = time.monotonic() + seconds
        ranks = range(self.size) if ranks is None else ranks
        place = ranks.index(self.rank)
        word, distance, tag = np.zeros(1, np.uint8), 1, _MEETING + purpose
        while distance < len(ranks):
            self.start_send(word, ranks[(place + distance) % len(ranks)], tag)
            heard = self.start_receive(word.copy(), ranks[(place - distance) % len(ranks)], tag)
            if not heard.arrives_within(deadline - time.monotonic()):
                return False
            distance *= 2
        return True

    def free(self) -> None:
        self.run(self._comm.Free)

    def abort(self, code: int) -> None:
        """End all processes that were started together."""
        MPI.COMM_WORLD.Abort(code)

    def _operation(self, op: RedOpType, memory: np.ndarray) -> Any:
        return self._operations[op][memory.dtype == np.bool_]

    @staticmethod
    def run(call: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a call of MPI, or its error as one of ours."""
        try:
            return call(*arguments)
        except MPI.Exception as error:
            raise translated(error) from None


def translated(error: Any) -> EngineError:
    """An error of MPI as one of ours."""
    text = error.Get_error_string()
    found = error.Get_error_class()
    if found == MPI.ERR_REVOKED:
        return Revoked(text)
    return PeerLost(text) if found in (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING) else EngineError(text)


class MpiRequest:
    """A message on its way."""

    def __init__(self, request: Any, communicator: MpiCommunicator) -> None:
        self._request = request
        self._communicator = communicator
        self._status = MPI.Status()

    def test(self) -> bool:
        try:
            return self._request.Test(self._status)
        except MPI.Exception as error:
            raise translated(error) from None

    def arrives_within(self, seconds: float) -> bool:
        """Whether it has arrived after so many seconds at most."""
        deadline = time.monotonic() + seconds
        while not self.test():
            if time.monotonic() > deadline:
                return False
            time.sleep(1e-3)
        return True

    def cancel(self) -> None:
        self._request.Cancel()

    @property
    def source(self) -> int:
        return self._status.Get_source()

    @property
    def nbytes(self) -> int:
        return self._status.Get_count(MPI.BYTE)


def _started(call: Callable[..., Any], memory: np.ndarray, peer: int, communicator: MpiCommunicator) -> Any:
    """A message between survivors; None for a peer that is lost already."""
    try:
        return MpiRequest(communicator.run(call, _bytes(memory), peer, _REGROUPING), communicator)
    except PeerLost:
        return None


def _hears(request: MpiRequest | None, deadline: float, rank: int) -> bool:
    """Whether a message arrives; False when its sender is lost."""
    try:
        arrived = request is not None and request.arrives_within(deadline - time.monotonic())
    except PeerLost:
        return False
    if request is not None and not arrived:
        raise EngineError(f"the process of rank {rank} did not come to shrink_group in time")
    return arrived


def _two_sets(flags: np.ndarray) -> tuple[set[int], set[int]]:
    first, second = flags.reshape(2, -1)
    return set(np.flatnonzero(first).tolist()), set(np.flatnonzero(second).tolist())


def _bytes(memory: np.ndarray) -> Any:
    """The memory as MPI takes it whatever the dtype is."""
    return [memory.view(np.uint8), MPI.BYTE]


def _reducible(memory: np.ndarray) -> np.ndarray:
    """The numbers in a dtype that MPI reduces: half precision is summed in single precision, and rounded once."""
    return memory.astype(np.float32) if memory.itemsize == 2 and memory.dtype.kind not in "iu" else memory


class _Reducible:
    """The numbers of an array in a dtype that MPI reduces; at the end they are in the array."""

    __slots__ = ("_memory", "_numbers")

    def __init__(self, memory: np.ndarray) -> None:
        self._memory = memory
        self._numbers = _reducible(memory)

    def __enter__(self) -> np.ndarray:
        return self._numbers

    def __exit__(self, error: Any, *rest: Any) -> None:
        if error is None and self._numbers is not self._memory:
            self._memory[...] = self._numbers
