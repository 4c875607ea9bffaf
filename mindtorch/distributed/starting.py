"""Starting: how the processes of a program meet, and become the group of all."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import timedelta
from typing import Any

from mindtorch._support.warnings import warn
from mindtorch.distributed.backends import checked_backend
from mindtorch.distributed.ending import prepare_the_end
from mindtorch.distributed.engines import mpi
from mindtorch.distributed.engines.communicator import Communicator, EngineError
from mindtorch.distributed.engines.joining import join, note_ready
from mindtorch.distributed.engines.local import LocalCommunicator
from mindtorch.distributed.errors import DistBackendError, DistNetworkError
from mindtorch.distributed.presence import Presence
from mindtorch.distributed.rendezvous import is_under_launcher, place_of, rendezvous
from mindtorch.distributed.stores import HashStore, PrefixStore, Store
from mindtorch.distributed.world import GroupMember, default_pg_timeout, world_state

_LEAST = 0.1
_LOOK = 0.02  # how often a process that begins looks whether others have died, in seconds
_PAUSE = 0.002  # and whether they have come


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Make the group of all processes.

    Several processes have to be started together, by `python -m mindtorch.distributed.run`, `mpiexec --with-ft ulfm` or
    Slurm; they find each other by MPI, whatever backend is named. Rank and number of processes are taken from the
    arguments, from `RANK` and `WORLD_SIZE`, or for `backend="mpi"` from MPI.

    Raises `ValueError` when the group exists or the environment lacks a variable, and `RuntimeError` when the processes
    were not started together.
    """
    if world_state.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    name = checked_backend(backend)
    limit = timeout or default_pg_timeout
    if name == "mpi":
        store, communicator = _mpi_world(rank, world_size, limit)
    else:
        store, communicator = _meet(init_method or "env://", store, rank, world_size, limit)
    world_state.store = store if store is not None else HashStore()
    world_state.default = world_state.add(communicator, range(communicator.size), name, "default_pg", timeout)
    GroupMember.WORLD = world_state.default
    if communicator.size > 1:
        prepare_the_end(communicator)


def _mpi_world(rank: int, world_size: int, timeout: timedelta) -> tuple[Store | None, Communicator]:
    if rank != -1 or world_size != -1:
        warn(
            f"For MPI backend, world_size ({world_size}) and rank ({rank}) are ignored since they are assigned by the "
            "MPI runtime.",
            UserWarning,
        )
    if is_under_launcher() or "WORLD_SIZE" in os.environ:
        return _meet("env://", None, -1, -1, timeout)
    return None, mpi.world()


def _meet(
    url: str, store: Store | None, rank: int, world_size: int, timeout: timedelta
) -> tuple[Store | None, Communicator]:
    """The store that the processes share, and their communicator: MPI's, whoever has started them."""
    deadline = time.monotonic() + timeout.total_seconds()
    if store is None:
        rank, world_size = place_of(url, rank, world_size)
        if world_size > 1 and not mpi.is_installed():  # before it waits for the others, which have no MPI either
            raise RuntimeError(mpi.NOT_INSTALLED)
        store, rank, world_size = rendezvous(url, rank, world_size, timeout)
    elif world_size <= 0:
        raise AssertionError("world_size must be positive if using store")
    elif rank < 0:
        raise AssertionError("rank must be non-negative if using store")
    communicator: Communicator
    if store is None:
        communicator = mpi.world()
    elif world_size == 1 and not is_under_launcher():
        return store, LocalCommunicator()
    else:
        communicator = _Meeting(store, rank, world_size, timeout, deadline).communicator()
    if communicator.size != world_size:
        raise RuntimeError(_not_together(world_size, communicator.size))
    return store, communicator if communicator.rank == rank else communicator.reordered(rank)


class _Meeting:
    """How processes begin MPI, which would itself wait for one that never comes, and break when one leaves while others
    begin. Whoever waits looks whether the others still run."""

    def __init__(self, store: Store, rank: int, size: int, timeout: timedelta, deadline: float) -> None:
        world_state.starts += 1
        self._store = PrefixStore(f"start{world_state.starts}", store)
        self._presence = Presence(store, size)
        self._rank = rank
        self._size = size
        self._timeout = timeout
        self._deadline = deadline  # earlier than this much from now, as it takes time to reach the store
        self._presence.announce(rank)

    def communicator(self) -> Communicator:
        """MPI's, once all have come and until all have it."""
        if not is_under_launcher():
            self._join()
        self._all_come("begin")
        communicator = self._begun()
        self._all_come("end")
        return communicator

    def _join(self) -> None:
        try:
            join(self._store, self._rank, self._size, self._comes)
        except DistBackendError:
            self._check_presence()  # a process that has died tells more than what follows from it
            raise

    def _check_presence(self) -> None:
        if ended := self._presence.ended():
            raise _lost(ended)

    def _all_come(self, key: str) -> None:
        last = f"{key}/last"
        if self._store.add(key, 1) == self._size:
            self._store.set(last, "1")
        try:
            if not self._comes(lambda: self._store.check([last])):
                raise self._store._timed_out([last], int(1000 * self._timeout.total_seconds()))
        except DistNetworkError:
            raise
        except RuntimeError:
            self._store.set("failed", str(self._rank))
            raise
        if self._store.check(["failed"]):
            raise DistBackendError(
                f"this process came too late: rank {self._store.get('failed').decode()} has given up"
            )

    def _comes(self, is_there: Callable[[], bool]) -> bool:
        """Whether something comes in time; raises when one of the processes has ended that it may have to come from."""
        deadline = max(self._deadline, time.monotonic() + _LEAST)  # always enough for what needs no waiting
        look = 0.0
        while not is_there():
            now = time.monotonic()
            if now > deadline:
                return False
            if now > look:
                ended, look = self._presence.ended(), now + _LOOK
                if ended and not is_there():  # that one may have been the last to come
                    raise _lost(ended)
            time.sleep(_PAUSE)
        return True

    def _begun(self) -> Communicator:
        """MPI's communicator, made in a thread, as MPI itself waits for a process that has died or stopped."""
        made: Future[Communicator] = Future()
        threading.Thread(target=_make, args=(made,), name="beginning of MPI", daemon=True).start()
        while not wait([made], _LOOK).done:
            self._check_presence()
            if time.monotonic() > self._deadline:
                seconds = self._timeout.total_seconds()
                raise DistBackendError(f"not all processes came to begin MPI within {seconds:g} s")
        note_ready(self._rank)
        try:
            return made.result()
        except EngineError as error:
            raise DistBackendError(f"MPI error: {error}") from None


def _lost(ranks: list[int]) -> DistBackendError:
    return DistBackendError(f"the process of rank {', '.join(map(str, ranks))} has died")


def _make(made: Future[Communicator]) -> None:
    try:
        made.set_result(mpi.world())
    except Exception as error:  # noqa: BLE001 (whatever it is, who waits for it gets it)
        made.set_exception(error)


def _not_together(wanted: int, found: int) -> str:
    return (
        f"this program is to run as {wanted} processes, but MPI has started {found} of them together. Start it with "
        f"`python -m mindtorch.distributed.run --nproc-per-node {wanted} program.py`."
    )
