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

from mindtorch.distributed.engines.communicator import WORDS, EngineError, PeerLost, Revoked
from mindtorch.distributed.reduce_op import RedOpType
from mindtorch.lazy import lazy

MPI: Any = lazy("mpi4py.MPI")

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


def is_under_launcher() -> bool:
    """Whether the program was started by `mpiexec`, as one of several processes."""
    return "OMPI_COMM_WORLD_SIZE" in os.environ or "PMI_SIZE" in os.environ


def world() -> MpiCommunicator:
    """The communicator of all processes that were started together; the first call initializes MPI."""
    if not is_installed():
        raise RuntimeError(NOT_INSTALLED)
    # Open MPI looks a second long for network cards of one family; processes on one machine never use them.
    os.environ.setdefault("OMPI_MCA_btl", "^ofi")
    return MpiCommunicator(MPI.COMM_WORLD.Dup())


_MEETING = 32002  # the tag of messages that users can't send


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
        self._run(self._comm.Allreduce, MPI.IN_PLACE, self._message, MPI.MIN)
        found = self._format.unpack_from(self._words)
        return any(found[i] != -found[WORDS + i] for i in range(WORDS))

    def gather_objects(self, value: Any) -> list[Any]:
        return self._run(self._comm.allgather, value)

    def all_reduce(self, memory: np.ndarray, op: RedOpType) -> None:
        with _Reducible(memory) as numbers:
            self._run(self._comm.Allreduce, MPI.IN_PLACE, numbers, self._operation(op, memory))

    def reduce(self, memory: np.ndarray, op: RedOpType, root: int) -> None:
        operation = self._operation(op, memory)
        if self.rank != root:
            self._run(self._comm.Reduce, _reducible(memory), None, operation, root)
            return
        with _Reducible(memory) as numbers:
            self._run(self._comm.Reduce, MPI.IN_PLACE, numbers, operation, root)

    def broadcast(self, memory: np.ndarray, root: int) -> None:
        self._run(self._comm.Bcast, _bytes(memory), root)

    def all_gather(self, output: np.ndarray, memory: np.ndarray) -> None:
        self._run(self._comm.Allgather, _bytes(memory), _bytes(output))

    def gather(self, output: np.ndarray | None, memory: np.ndarray, root: int) -> None:
        self._run(self._comm.Gather, _bytes(memory), None if output is None else _bytes(output), root)

    def scatter(self, memory: np.ndarray, parts: np.ndarray | None, root: int) -> None:
        self._run(self._comm.Scatter, None if parts is None else _bytes(parts), _bytes(memory), root)

    def reduce_scatter(self, memory: np.ndarray, parts: np.ndarray, op: RedOpType) -> None:
        numbers = _reducible(parts)
        total = numbers if numbers is not parts else parts.copy()
        self._run(self._comm.Allreduce, MPI.IN_PLACE, total, self._operation(op, parts))
        memory[...] = total[self.rank * memory.size : (self.rank + 1) * memory.size]

    def all_to_all(
        self, output: np.ndarray, parts: np.ndarray, output_counts: Sequence[int], counts: Sequence[int]
    ) -> None:
        unit = parts.itemsize
        sent = [parts.view(np.uint8), [unit * each for each in counts], MPI.BYTE]
        received = [output.view(np.uint8), [unit * each for each in output_counts], MPI.BYTE]
        self._run(self._comm.Alltoallv, sent, received)

    def barrier(self) -> None:
        self._run(self._comm.Barrier)

    # -------------------- messages --------------------

    def start_send(self, memory: np.ndarray, peer: int, tag: int) -> MpiRequest:
        return MpiRequest(self._run(self._comm.Isend, _bytes(memory), peer, tag), self)

    def start_receive(self, memory: np.ndarray, peer: int | None, tag: int) -> MpiRequest:
        source = MPI.ANY_SOURCE if peer is None else peer
        return MpiRequest(self._run(self._comm.Irecv, _bytes(memory), source, tag), self)

    # -------------------- groups and failures --------------------

    def group_of(self, ranks: Sequence[int], number: int) -> MpiCommunicator:
        group = self._comm.Get_group().Incl(list(ranks))
        return MpiCommunicator(self._run(self._comm.Create_group, group, number))

    def reordered(self, rank: int) -> MpiCommunicator:
        """The same processes, each with the rank that it asks for."""
        made = MpiCommunicator(self._run(self._comm.Split, 0, rank))
        if made.rank != rank:
            raise ValueError(f"the processes have asked for the same rank twice, or for one that is missing: {rank}")
        return made

    def shrunk(self) -> MpiCommunicator:
        return MpiCommunicator(self._run(self._comm.Shrink))

    def lost_ranks(self) -> list[int]:
        lost = self._comm.Get_failed()
        return MPI.Group.Translate_ranks(lost, list(range(lost.Get_size())), self._comm.Get_group())

    def revoke(self) -> None:
        self._comm.Revoke()

    def meet(self, seconds: float) -> bool:
        # In each round every process hears from one that has heard from twice as many as in the round before. MPI's own
        # barrier can't be left when it takes too long.
        deadline = time.monotonic() + seconds
        word, distance = np.zeros(1, np.uint8), 1
        while distance < self.size:
            self.start_send(word, (self.rank + distance) % self.size, _MEETING)
            heard = self.start_receive(word.copy(), (self.rank - distance) % self.size, _MEETING)
            if not heard.arrives_within(deadline - time.monotonic()):
                return False
            distance *= 2
        return True

    def free(self) -> None:
        self._run(self._comm.Free)

    def abort(self, code: int) -> None:
        """End all processes that were started together."""
        MPI.COMM_WORLD.Abort(code)

    def _operation(self, op: RedOpType, memory: np.ndarray) -> Any:
        return self._operations[op][memory.dtype == np.bool_]

    def _run(self, call: Callable[..., Any], *arguments: Any) -> Any:
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
